import { randomBytes } from "node:crypto";
import { accepted, isoTime, refused, type ApiTokenView, type CreatedApiTokenView, type Result } from "@berth/core";
import { describeError, EnvironmentError, type Clock, type Log } from "@berth/host";
import type { ApiTokenRecord, ApiTokenStore } from "../store/api-token-store.js";
import type { AuditStore } from "../store/store.js";
import {
  createTokenAuth,
  digestApiToken,
  makeApiToken,
  type Auth,
  type Principal,
  type Role,
  type StoredToken,
} from "./token-auth.js";

export interface ApiTokenOrder {
  readonly name: string;
  readonly role: Role;
  /** Milliseconds; left out, it lives until it is revoked. */
  readonly ttlMs?: number;
}

/** Who may use the HTTP API, and the tokens that were made for it. */
export interface ApiTokens extends Auth {
  list(): readonly ApiTokenView[];
  /** The token itself is in the answer and nowhere else. */
  create(order: ApiTokenOrder, actor: string): Promise<Result<CreatedApiTokenView>>;
  /** By name or id. It is worth nothing from then on. */
  revoke(reference: string, actor: string): Promise<Result<ApiTokenView>>;
  /** Reads again now and then until aborted, since another coordinator on the same database makes and revokes tokens, too. */
  run(signal: AbortSignal): Promise<void>;
}

export interface ApiTokenPorts {
  readonly store: { readonly apiTokens: ApiTokenStore; readonly audit: AuditStore };
  readonly clock: Clock;
  readonly log: Log;
  /** Tokens that are not in the store: the administrator's of the first start. */
  readonly fixed: readonly StoredToken[];
}

interface ShownToken extends Pick<ApiTokenRecord, "expiresAt"> {
  readonly principal: Principal;
}

const TOKENS_MAX = 1000;
const PERIOD_MS = 5000;
const ID_OCTETS = 6;

/** Knows the fixed tokens and those of the store. */
export async function openApiTokens(ports: ApiTokenPorts): Promise<ApiTokens> {
  const tokens = new StoredApiTokens(ports);
  await tokens.refresh();
  return tokens;
}

class StoredApiTokens implements ApiTokens {
  readonly #ports: ApiTokenPorts;
  readonly #fixed: Auth;
  #unreadable = false;
  #records: readonly ApiTokenRecord[] = [];
  /** By digest: who guesses digests learns nothing from how long a look-up takes, because it is the token that he must have. */
  #byDigest: ReadonlyMap<string, ApiTokenRecord> = new Map();
  /** Tokens that were shown and good, so that the digest of each is made once: as many as there are records, and forgotten whenever these are read. */
  readonly #shown = new Map<string, ShownToken>();

  constructor(ports: ApiTokenPorts) {
    this.#ports = ports;
    this.#fixed = createTokenAuth(ports.fixed);
  }

  async refresh(): Promise<void> {
    this.#records = await this.#ports.store.apiTokens.list();
    this.#byDigest = new Map(this.#records.map((record) => [record.digest, record]));
    this.#shown.clear();
  }

  identify(token: string): Principal | null {
    const shown = this.#shown.get(token) ?? this.#find(token);
    return shown === null || isExpired(shown, this.#ports.clock.now()) ? null : shown.principal;
  }

  #find(token: string): ShownToken | null {
    const fixed = this.#fixed.identify(token);
    const record = fixed === null ? this.#byDigest.get(digestApiToken(token)) : { ...fixed, expiresAt: null };
    if (record === undefined) return null;
    const { name, role, expiresAt } = record;
    const shown = { principal: { name, role }, expiresAt };
    this.#shown.set(token, shown);
    return shown;
  }

  list(): readonly ApiTokenView[] {
    return this.#records.map(viewToken);
  }

  async create({ name, role, ttlMs }: ApiTokenOrder, actor: string): Promise<Result<CreatedApiTokenView>> {
    const { clock, fixed, store } = this.#ports;
    await this.refresh();
    const now = clock.now();
    const namesake = this.#records.find((record) => record.name === name);
    if (fixed.some((known) => known.name === name) || (namesake !== undefined && !isExpired(namesake, now)))
      return refused({
        code: "token-name-taken",
        at: "name",
        message: `there is a token '${name}' already`,
        remedy: "revoke it, or choose another name",
      });
    if (namesake !== undefined) await store.apiTokens.remove(namesake.id);
    else if (this.#records.length >= TOKENS_MAX)
      return refused({
        code: "tokens-exhausted",
        at: "name",
        message: `there are ${TOKENS_MAX} tokens already`,
        remedy: "revoke those that nobody uses",
      });
    const token = makeApiToken();
    const record: ApiTokenRecord = {
      id: `t-${randomBytes(ID_OCTETS).toString("hex")}`,
      name,
      role,
      digest: digestApiToken(token),
      createdAt: now,
      createdBy: actor,
      expiresAt: ttlMs === undefined ? null : now + ttlMs,
    };
    await store.apiTokens.add(record);
    await store.audit.append({ at: now, actor, action: "create-api-token", subject: name, detail: viewToken(record) });
    await this.refresh();
    return accepted({ ...viewToken(record), token });
  }

  async revoke(reference: string, actor: string): Promise<Result<ApiTokenView>> {
    const { clock, store } = this.#ports;
    await this.refresh();
    const record = this.#records.find(({ id, name }) => id === reference || name === reference);
    if (record === undefined)
      return refused({
        code: "api-token-unknown",
        at: reference,
        message: "there is no such token",
        remedy: "see 'berth api-token list'",
      });
    await store.apiTokens.remove(record.id);
    await this.refresh();
    await store.audit.append({
      at: clock.now(),
      actor,
      action: "revoke-api-token",
      subject: record.name,
      detail: viewToken(record),
    });
    return accepted(viewToken(record));
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#ports;
    while (!signal.aborted) {
      await clock.sleep(PERIOD_MS, signal).catch((error: unknown) => {
        if (!signal.aborted) throw error; // an aborted sleep is what was asked for
      });
      if (!signal.aborted) await this.#tryRefresh();
    }
  }

  /** What was known goes on to be good while the database is away. */
  async #tryRefresh(): Promise<void> {
    try {
      await this.refresh();
      this.#unreadable = false;
    } catch (error) {
      if (!(error instanceof EnvironmentError)) throw error;
      if (!this.#unreadable) this.#ports.log.warn({ error: describeError(error) }, "API tokens cannot be read again");
      this.#unreadable = true;
    }
  }
}

function isExpired({ expiresAt }: Pick<ApiTokenRecord, "expiresAt">, now: number): boolean {
  return expiresAt !== null && expiresAt <= now;
}

function viewToken({ createdAt, createdBy, expiresAt, id, name, role }: ApiTokenRecord): ApiTokenView {
  return { id, name, role, createdAt: isoTime(createdAt), createdBy, expiresAt: expiresAt === null ? null : isoTime(expiresAt) };
}
