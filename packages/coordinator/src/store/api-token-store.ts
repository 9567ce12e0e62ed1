/** A token of the HTTP API. Only the digest of what its holder sends is kept. Times in milliseconds since 1970. */
export interface ApiTokenRecord {
  readonly id: string;
  /** For people and for the audit log; unique. */
  readonly name: string;
  readonly role: "read" | "operate" | "admin";
  /** SHA-256 in hex. */
  readonly digest: string;
  readonly createdAt: number;
  readonly createdBy: string;
  /** Null lives until it is revoked. */
  readonly expiresAt: number | null;
}

export interface ApiTokenStore {
  /** By name. */
  list(): Promise<readonly ApiTokenRecord[]>;
  /** A name or an id that there is already is a `store-conflict`. */
  add(token: ApiTokenRecord): Promise<void>;
  /** None is fine. */
  remove(id: string): Promise<void>;
}
