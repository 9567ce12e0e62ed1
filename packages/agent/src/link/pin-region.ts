import { createHash, X509Certificate } from "node:crypto";
import { isIP } from "node:net";
import { connect, type TLSSocket } from "node:tls";
import { REGION_URI, type RegionAddress } from "@berth/core";
import { EnvironmentError, type Clock } from "@berth/host";

export interface PinnedConnection {
  readonly socket: TLSSocket;
  readonly authority: X509Certificate;
}

const CONNECT_TIMEOUT_MS = 15_000;

/**
 * Connects and makes sure that the other end holds a server certificate of the CA with that fingerprint (SHA-256 of its SPKI DER, RFC 7469 section
 * 2.4, in hex) before anything is sent. Throws `region-unreachable`, `fingerprint-differs`, `clock-off`.
 */
export async function pinRegion(address: RegionAddress, fingerprint: string, clock: Clock): Promise<PinnedConnection> {
  const at = `${address.host}:${address.port}`;
  const socket = await connectTls(address, at);
  try {
    return { socket, authority: checkChain(socket, fingerprint, { at, now: clock.now() }) };
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

function connectTls({ host, port }: RegionAddress, at: string): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    // Nothing is trusted by TLS itself here: the pin decides, in checkChain.
    const name = isIP(host) === 0 ? { servername: host } : {};
    const socket = connect({ host, port, rejectUnauthorized: false, minVersion: "TLSv1.3", ...name });
    const timer = setTimeout(() => {
      socket.destroy(new Error(`no answer in ${CONNECT_TIMEOUT_MS / 1000} s`));
    }, CONNECT_TIMEOUT_MS);
    socket.once("secureConnect", () => {
      clearTimeout(timer);
      resolve(socket);
    });
    socket.once("error", (cause) => {
      clearTimeout(timer);
      reject(
        new EnvironmentError("region-unreachable", at, `no region answers at ${at}`, {
          cause,
          remedy: "check the address and port, that the coordinator runs, and that no firewall is between",
        }),
      );
    });
  });
}

function checkChain(
  socket: TLSSocket,
  fingerprint: string,
  { at, now }: { readonly at: string; readonly now: number },
): X509Certificate {
  const peer = socket.getPeerCertificate(true);
  // Without a certificate the object is empty; a chain of one points at itself or nowhere.
  const issuer = (peer.issuerCertificate as typeof peer.issuerCertificate | undefined)?.raw;
  if ((peer.raw as Buffer | undefined) === undefined || issuer === undefined)
    throw differs(at, "it shows no certificate of a region");
  const leaf = new X509Certificate(peer.raw);
  const authority = new X509Certificate(issuer);
  const hash = publicKeyHash(authority);
  if (hash !== fingerprint) throw differs(at, `its CA has the fingerprint sha256:${hash}`);
  if (!authority.ca || !leaf.verify(authority.publicKey)) throw differs(at, "its certificate was not issued by that CA");
  if (leaf.ca || !(leaf.subjectAltName ?? "").includes(`URI:${REGION_URI}`))
    throw differs(at, "its certificate is not that of a region");
  checkClock(leaf, at, now);
  return authority;
}

/** SHA-256 of a certificate's public key in hex. */
export function publicKeyHash(certificate: X509Certificate): string {
  return createHash("sha256")
    .update(certificate.publicKey.export({ type: "spki", format: "der" }))
    .digest("hex");
}

function checkClock(leaf: X509Certificate, at: string, now: number): void {
  const from = Date.parse(leaf.validFrom);
  const to = Date.parse(leaf.validTo);
  if (now >= from && now < to) return;
  throw new EnvironmentError(
    "clock-off",
    at,
    `this host's clock says ${new Date(now).toISOString()}, but the region's certificate is good from ${new Date(from).toISOString()} to ${new Date(to).toISOString()}`,
    { remedy: "set the clock (timedatectl, chronyc makestep) and join again" },
  );
}

function differs(at: string, why: string): EnvironmentError {
  return new EnvironmentError("fingerprint-differs", at, `${at} is not the region of this join line: ${why}`, {
    remedy: "compare the fingerprint with the one that berth-coordinator prints; nothing was sent",
  });
}

/** The fingerprint of a CA's certificate in PEM, as a join line carries it. */
export function authorityFingerprint(pem: string): string {
  return publicKeyHash(new X509Certificate(pem));
}
