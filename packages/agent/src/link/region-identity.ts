import { createPrivateKey, X509Certificate } from "node:crypto";
import { parseRegionAddress } from "@berth/core";
import { describeError, type Clock, type Log } from "@berth/host";
import type { Identity } from "../identity/identity.js";

export interface RegionIdentityOptions {
  readonly identity: Identity;
  /** Addresses from the configuration; they come first. */
  readonly regions: readonly string[];
  readonly clock: Clock;
  readonly log: Log;
  readonly save: (identity: Identity) => Promise<void>;
}

const REGIONS_MAX = 64;
/** An unanswered request for a certificate is repeated after this long. */
const ASK_AGAIN_MS = 3_600_000;

/** The identity of this rack as it changes over a session: a renewed certificate, new addresses of the region. Changed on the disk first. */
export class RegionIdentity {
  readonly #options: RegionIdentityOptions;
  #identity: Identity;
  #certificate: X509Certificate;
  #askedAt: number | null = null;
  #turn: Promise<void> = Promise.resolve();

  constructor(options: RegionIdentityOptions) {
    this.#options = options;
    this.#identity = options.identity;
    this.#certificate = new X509Certificate(options.identity.certificate);
  }

  get current(): Identity {
    return this.#identity;
  }

  get certificateEndsAt(): number {
    return Date.parse(this.#certificate.validTo);
  }

  /** Every address that may be dialed, HOST:PORT, those of the configuration first. */
  addresses(): readonly string[] {
    return [...new Set([...this.#options.regions, ...this.#identity.regions])].slice(0, REGIONS_MAX);
  }

  /** Keeps the union of all answers: an address that does not answer today may be the only one that does tomorrow. */
  learn(regions: readonly string[]): void {
    const known = new Set(this.#identity.regions);
    const news = [...new Set(regions)].filter((text) => !known.has(text) && parseRegionAddress(text).ok);
    if (news.length === 0 || known.size >= REGIONS_MAX) return;
    this.#change((identity) => ({ ...identity, regions: [...identity.regions, ...news].slice(0, REGIONS_MAX) }));
  }

  takeCertificate(pem: string): void {
    this.#change((identity) => {
      const certificate = new X509Certificate(pem);
      const ours = certificate.checkPrivateKey(createPrivateKey(identity.key));
      if (!ours || !certificate.verify(new X509Certificate(identity.ca).publicKey))
        throw new Error("the region sent a certificate that is not for our key or not by its CA");
      this.#options.log.info({ until: certificate.validTo }, "certificate renewed");
      return { ...identity, certificate: pem };
    });
  }

  /** A new session may be with a coordinator that can renew. */
  askAgain(): void {
    this.#askedAt = null;
  }

  /** Asks for a new certificate when half of the life of this one is over. `ask` gets the request in PEM. */
  renewWhenDue(ask: (request: string) => void): void {
    const { clock, log } = this.#options;
    const { validFrom, validTo } = this.#certificate;
    if (clock.now() < (Date.parse(validFrom) + Date.parse(validTo)) / 2) return;
    if (this.#askedAt !== null && clock.monotonic() - this.#askedAt < ASK_AGAIN_MS) return;
    this.#askedAt = clock.monotonic();
    log.info({ until: validTo }, "asking for a new certificate");
    this.#enqueue(async () => {
      const { createCertificateRequest } = await import("../identity/certificate-request.js");
      ask(await createCertificateRequest(this.#identity.key));
    });
  }

  /** Resolves when nothing is being written. */
  async settled(): Promise<void> {
    await this.#turn;
  }

  #change(change: (identity: Identity) => Identity): void {
    this.#enqueue(async () => {
      const changed = change(this.#identity);
      await this.#options.save(changed);
      this.#identity = changed;
      this.#certificate = new X509Certificate(changed.certificate);
    });
  }

  /** One after the other. A failure is told and the old identity stays good: addresses come again with every session, the certificate is asked for again. */
  #enqueue(step: () => Promise<void>): void {
    this.#turn = this.#turn.then(step).catch((error: unknown) => {
      this.#options.log.error({ reason: describeError(error) }, "failed to change the identity of this rack");
    });
  }
}
