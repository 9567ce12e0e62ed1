import type { IpFamily } from "../address/ip.js";
import type { Problem } from "../problem.js";
import { tunnelMark } from "./address-marks.js";
import { ruling, type Candidate } from "./candidate.js";

/**
 * A family without any real address: a peer address on an ordinary NIC (hosters hand out such links) is better than none, and an operator must
 * hear of it. Nothing to say where a family is only loopback, containers or tunnels.
 */
export function rescueFamily(candidates: readonly Candidate[], family: IpFamily): readonly Problem[] {
  if (candidates.some(({ ruling: decided }) => decided?.class === "real")) return [];
  const peer = candidates.find((candidate) => candidate.ruling?.class === "p2p" && isOrdinaryLink(candidate));
  const virtual = candidates.find(({ ruling: decided }) => decided?.class === "vip");
  if (peer === undefined && virtual === undefined) return [];
  if (peer !== undefined) {
    const why = peer.ruling?.reasons ?? [];
    peer.ruling = ruling(10, "real", 0.3, `no other IPv${family} address could be this host's own`, ...why);
  }
  const found = peer === undefined ? "only virtual ones" : `${peer.observed.address} is taken, a point-to-point one`;
  return [
    {
      code: "no-real-address",
      at: (peer ?? virtual)?.entry.name ?? "host",
      message: `this host has no IPv${family} address that is surely its own: ${found}`,
      remedy: "name this host's own address in addresses.real",
    },
  ];
}

function isOrdinaryLink({ entry }: Candidate): boolean {
  return !entry.flags.includes("POINTOPOINT") && tunnelMark(entry) === null;
}
