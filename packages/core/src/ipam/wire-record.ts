import type { HardwareAddress } from "../address/hardware.js";
import type { IpAddress } from "../address/ip.js";
import type { WireAnswer } from "../wire/wire-answer.js";

/** All that a region keeps of one address on the wires of one site. Times in milliseconds since 1970, by the region's clock. */
export interface WireRecord {
  readonly site: string;
  readonly address: IpAddress;
  /** When somebody answered last; null when nobody ever did. */
  readonly seenAt: number | null;
  /** Who answered then, sorted. */
  readonly hardwareAddresses: readonly HardwareAddress[];
  /** A probe heard them: the kernel of a rack alone may hold a hardware address that left. */
  readonly confirmed: boolean;
  /** Name of the rack that heard it last; null while none did. */
  readonly rack: string | null;
  /** Last probe, whatever it heard; null when there was none. */
  readonly probedAt: number | null;
}

/** Where an answer was heard. */
export interface HeardAt {
  readonly site: string;
  readonly rack: string;
}

/** The record with one more answer in it. An answer older than what is known changes nothing: racks repeat theirs at every session. */
export function noteWireAnswer(before: WireRecord | undefined, { site, rack }: HeardAt, answer: WireAnswer): WireRecord {
  const { address, hardwareAddresses, at, how } = answer;
  const nothing = { seenAt: null, hardwareAddresses: [], confirmed: false, rack: null, probedAt: null };
  const known: WireRecord = before ?? { site, address, ...nothing };
  const probedAt = how === "probe" ? Math.max(at, known.probedAt ?? 0) : known.probedAt;
  if (hardwareAddresses.length === 0 || at <= (known.seenAt ?? -1)) return { ...known, probedAt };
  const same = known.hardwareAddresses.join() === hardwareAddresses.join();
  return { ...known, rack, probedAt, seenAt: at, hardwareAddresses, confirmed: how === "probe" || (same && known.confirmed) };
}

/** Whether nobody answered the last probe. */
export function wasSilent({ seenAt, probedAt }: WireRecord): boolean {
  return probedAt !== null && (seenAt === null || seenAt < probedAt);
}

/** When something was last learnt. */
export function learntAt({ seenAt, probedAt }: WireRecord): number {
  return Math.max(seenAt ?? 0, probedAt ?? 0);
}
