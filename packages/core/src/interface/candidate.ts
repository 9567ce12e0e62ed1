import type { IpAddress } from "../address/ip.js";
import { isUnattached } from "./address-marks.js";
import type { HostInterface, InterfaceAddress } from "./model.js";
import type { AddressClass } from "./verdict.js";

/** What is known besides the addresses themselves. */
export interface AddressKnowledge {
  /** Configured as this host's or the region's real addresses. */
  readonly real?: ReadonlySet<IpAddress>;
  /** Configured as virtual. */
  readonly vips?: ReadonlySet<IpAddress>;
  /** Virtual addresses that the ledger gave out. */
  readonly ledgerVips?: ReadonlySet<IpAddress>;
  /** Held in a lease file read on this host under one of its own hardware addresses or DUIDs. */
  readonly leasedToSelf?: ReadonlySet<IpAddress>;
}

/** One address that steps 1 to 3 look at; `ruling` is null while it is undecided. */
export interface Candidate {
  readonly entry: HostInterface;
  readonly observed: InterfaceAddress;
  ruling: Ruling | null;
}

export interface Ruling {
  readonly class: AddressClass;
  readonly confidence: number;
  readonly reasons: readonly string[];
  readonly step: number;
}

export function ruling(step: number, kind: AddressClass, confidence: number, ...reasons: readonly string[]): Ruling {
  return { step, class: kind, confidence, reasons };
}

/** Counts for "only", "beside" and "other". */
export function counts(candidate: Candidate): boolean {
  return candidate.ruling === null || (candidate.ruling.step === 1 && candidate.ruling.class === "real");
}

export function standsOnNic(candidate: Candidate): boolean {
  return !isUnattached(candidate.entry);
}
