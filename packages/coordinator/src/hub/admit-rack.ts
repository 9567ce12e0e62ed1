import { timingSafeEqual } from "node:crypto";
import { accepted, decideJoin, parseJoinToken, refused, type JoinAnswer, type JoinRequest, type Result } from "@berth/core";
import type { Clock, Log } from "@berth/host";
import { hashSecret } from "../racks/create-token.js";
import type { RackRegistry } from "../racks/rack-registry.js";
import type { AuditStore, RackRecord, TokenRecord, TokenStore } from "../store/store.js";
import type { Tls } from "../tls/open-tls.js";
import { readRequest, type RequestedKey } from "../tls/read-request.js";
import type { Peer, RenewedCertificate } from "./session.js";

export interface AdmissionPorts {
  readonly tls: Tls;
  readonly registry: RackRegistry;
  readonly tokens: TokenStore;
  readonly audit: Pick<AuditStore, "append">;
  readonly clock: Clock;
  readonly log: Log;
  readonly regions: () => readonly string[];
}

/**
 * Makes a host a rack of this region, or says why not. The token is spent last, so that a refusal costs nothing, and spending it for the same key
 * again gives the same answer, so that a rack that lost the answer asks again. Callers must not run two at once: names are unique.
 */
export async function admitRack(ports: AdmissionPorts, request: JoinRequest): Promise<Result<JoinAnswer>> {
  const key = await readRequest(request.request);
  if (!key.ok) return key;
  const token = await findToken(ports, request.token, key.value);
  if (!token.ok) return token;
  const { publicKeyHash } = key.value;
  const decided = decideJoin({ request, publicKeyHash, token: token.value, racks: ports.registry.records() });
  if (!decided.ok) return decided;
  const used = await ports.tokens.use(token.value.id, publicKeyHash, ports.clock.now());
  if (used?.usedBy !== publicKeyHash) return tokenUsed(token.value.id);
  const { id, name, site } = decided.value;
  const known = ports.registry.record(id);
  const certificate = await ports.tls.issueRack(id, key.value.publicKey);
  const joinedAt = known?.joinedAt ?? ports.clock.now();
  const record: RackRecord = { id, name, site, joinedAt, certificateSerial: certificate.serial, publicKeyHash };
  const replaces = known !== null && known.publicKeyHash !== publicKeyHash;
  if (replaces) await noteReplacement(ports, { known, record, request, token: token.value.id });
  await ports.registry.admit(record);
  ports.log[replaces ? "warn" : "info"]({ rack: id, name, site, token: token.value.id, replaces }, "rack joined");
  return accepted({
    rack: id,
    name,
    site,
    region: ports.tls.region,
    certificate: certificate.pem,
    ca: ports.tls.authorityPem,
    regions: [...ports.regions()].slice(0, 64),
    now: ports.clock.now(),
  });
}

/** Before the old host loses its place: what takes it from a host must be readable afterwards. */
async function noteReplacement(
  { audit, registry, clock }: AdmissionPorts,
  { known, record, request, token }: { known: RackRecord; record: RackRecord; request: JoinRequest; token: string },
): Promise<void> {
  const view = registry.view(known.id);
  const detail = {
    rack: record.id,
    before: { key: known.publicKeyHash, connected: view?.connected ?? false, lastSeenAt: view?.lastSeenAt ?? null },
    after: { key: record.publicKeyHash, hostname: request.hostname },
  };
  await audit.append({
    at: clock.now(),
    actor: `join token ${token}`,
    action: "replace-rack-host",
    subject: record.name,
    detail,
  });
}

/** A new certificate for the same key of a rack that is connected. */
export async function renewRack(
  { tls, registry, log }: AdmissionPorts,
  peer: Peer,
  request: string,
): Promise<Result<RenewedCertificate>> {
  const key = await readRequest(request);
  if (!key.ok) return key;
  const record = registry.record(peer.rack);
  if (record === null) return refused({ code: "rack-unknown", at: peer.rack, message: "the rack was removed" });
  if (key.value.publicKeyHash !== peer.publicKeyHash || record.publicKeyHash !== peer.publicKeyHash)
    return refused({ code: "rack-key-differs", at: "renew.request", message: "a certificate is renewed for the key it has" });
  const certificate = await tls.issueRack(peer.rack, key.value.publicKey);
  await registry.admit({ ...record, certificateSerial: certificate.serial });
  log.info({ rack: peer.rack, serial: certificate.serial }, "certificate renewed");
  return accepted({ pem: certificate.pem, endsAt: certificate.endsAt });
}

/** An unknown id and a wrong secret are answered alike. */
async function findToken({ tokens, clock }: AdmissionPorts, text: string, key: RequestedKey): Promise<Result<TokenRecord>> {
  const token = parseJoinToken(text);
  const record = token === null ? undefined : (await tokens.list()).find(({ id }) => id === token.id);
  if (token === null || record === undefined || !equalHashes(hashSecret(token.secret), record.secretHash))
    return refused({
      code: "token-unknown",
      at: "token",
      message: "no such join token",
      remedy: "copy the whole line that berth token create printed, or make a new token",
    });
  if (record.usedBy === key.publicKeyHash) return accepted(record);
  if (record.usedBy !== null) return tokenUsed(record.id);
  if (clock.now() >= record.expiresAt)
    return refused({
      code: "token-expired",
      at: record.id,
      message: "the join token has expired",
      remedy: "make a new one with berth token create",
    });
  return accepted(record);
}

function tokenUsed(id: string): Result<never> {
  return refused({
    code: "token-used",
    at: id,
    message: "the join token was used by another host",
    remedy: "a token admits one host; make a new one with berth token create",
  });
}

function equalHashes(a: string, b: string): boolean {
  return a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b));
}
