import type { X509Certificate } from "node:crypto";
import type { TLSSocket } from "node:tls";
import { accepted, RACK_URI, refused, type Result } from "@berth/core";
import type { RackRegistry } from "../racks/rack-registry.js";
import { publicKeyHash } from "../tls/certificate.js";
import type { Peer } from "./session.js";

export type PeerReader = (socket: TLSSocket, registry: RackRegistry, now: number) => Result<Peer>;

/** Certificates whose key is remembered: those of ten thousand racks that dial again and again. */
const KEYS_MAX = 16_384;

/** A reader that remembers the keys of certificates: taking one out again costs a millisecond, and a whole fleet may dial at once. */
export function createPeerReader(hashOf: (certificate: X509Certificate) => string = keyHash): PeerReader {
  const hashes = new Map<string, string>();
  const remembered = (certificate: X509Certificate): string => {
    const { fingerprint256 } = certificate;
    const hash = hashes.get(fingerprint256) ?? hashOf(certificate);
    hashes.delete(fingerprint256); // to the end: the one that was not seen for the longest time goes first
    hashes.set(fingerprint256, hash);
    const [oldest] = hashes.keys();
    if (hashes.size > KEYS_MAX && oldest !== undefined) hashes.delete(oldest);
    return hash;
  };
  return (socket, registry, now) => readPeer(socket, { registry, now, hashOf: remembered });
}

function keyHash({ publicKey }: X509Certificate): string {
  return publicKeyHash(publicKey);
}

interface Door {
  readonly registry: RackRegistry;
  readonly now: number;
  readonly hashOf: (certificate: X509Certificate) => string;
}

/**
 * Who dials, from the certificate that TLS verified, checked against the racks of this moment: a removed rack and a replaced host are refused
 * although their certificates are still good.
 */
function readPeer(socket: TLSSocket, { registry, now, hashOf }: Door): Result<Peer> {
  const certificate = socket.getPeerX509Certificate();
  if (certificate === undefined)
    return no("certificate-missing", "the link needs the certificate of a rack", "join this host with berth-agent join");
  const certificateEndsAt = Date.parse(certificate.validTo);
  if (now >= certificateEndsAt)
    return no("certificate-expired", `the certificate ended on ${certificate.validTo}`, "join this host again with a new token");
  if (!socket.authorized)
    return no(
      "certificate-refused",
      `the certificate is not one of this region: ${String(socket.authorizationError)}`,
      "join this host again",
    );
  const rack = rackOf(certificate.subjectAltName ?? "");
  const record = rack === null ? null : registry.record(rack);
  if (rack === null || record === null)
    return no("rack-unknown", "the rack was removed", "join this host again with a new token");
  const hash = hashOf(certificate);
  if (record.publicKeyHash !== hash)
    return no("rack-replaced", "the host of this rack was replaced by another", "join this host as a rack of its own");
  return accepted({ rack, publicKeyHash: hash, certificateEndsAt });
}

/** The text form of the names is safe to split: a rack id has no comma, and only our CA wrote it. */
function rackOf(subjectAltName: string): string | null {
  const prefix = `URI:${RACK_URI}`;
  const uri = subjectAltName.split(", ").find((name) => name.startsWith(prefix));
  return uri?.slice(prefix.length) ?? null;
}

function no(code: string, message: string, remedy: string): Result<never> {
  return refused({ code, at: "certificate", message, remedy });
}
