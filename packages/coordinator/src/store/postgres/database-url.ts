import { EnvironmentError } from "@berth/host";

/** Where one server of a cluster listens: a name or address, or the folder of a socket. */
export interface DatabaseHost {
  readonly host: string;
  readonly port: number;
}

/** What a `postgres://` URL says. */
export interface DatabaseTarget {
  /** Any of them may be the one that can be written. */
  readonly hosts: readonly DatabaseHost[];
  readonly user: string | null;
  readonly password: string | null;
  readonly database: string;
  /** libpq's `sslmode`, as far as the driver knows it. */
  readonly tls: false | "prefer" | "require" | "verify-full";
  /** The URL for people: without user and password. */
  readonly shown: string;
}

const URL_PATTERN =
  /^postgres(?:ql)?:\/\/(?:(?<user>[^:@/]*)(?::(?<password>[^@/]*))?@)?(?<hosts>[^@/?]+)\/(?<database>[^/?]+)(?:\?(?<query>.*))?$/;
const HOST_PATTERN = /^(?<host>\[[0-9a-fA-F:.]+\]|[^:[\]]+)(?::(?<port>\d{1,5}))?$/;
const PORT = 5432;
const HOSTS_MAX = 16;
const TLS_MODES: Readonly<Record<string, DatabaseTarget["tls"]>> = {
  disable: false,
  prefer: "prefer",
  require: "require",
  "verify-full": "verify-full",
};

/**
 * Reads `postgres://USER:PASSWORD@HOST:PORT,HOST:PORT/DATABASE?sslmode=MODE` (libpq's connection URI, PostgreSQL 15 manual 34.1.1.2). A host that
 * starts with an escaped slash is the folder of a socket. Throws `database-url-malformed`, without the password in it.
 */
export function parseDatabaseUrl(url: string): DatabaseTarget {
  const parts = URL_PATTERN.exec(url)?.groups;
  if (parts === undefined) return malformed("it is not a URL of a database");
  const names = (parts.hosts ?? "").split(",");
  if (names.length > HOSTS_MAX) return malformed(`it names more than ${HOSTS_MAX} hosts`);
  const hosts = names.map(parseHost);
  const query = new URLSearchParams(parts.query ?? "");
  for (const key of query.keys()) if (key !== "sslmode") malformed(`it has the parameter '${key}'; only sslmode is known`);
  const mode = query.get("sslmode") ?? "disable";
  const tls = TLS_MODES[mode];
  if (tls === undefined) return malformed(`sslmode is '${mode}'; known are ${Object.keys(TLS_MODES).join(", ")}`);
  const database = unescaped(parts.database ?? "");
  const user = parts.user === undefined || parts.user === "" ? null : unescaped(parts.user);
  const password = parts.password === undefined ? null : unescaped(parts.password);
  return { hosts, user, password, database, tls, shown: `postgres://${names.join(",")}/${database}` };
}

function parseHost(text: string): DatabaseHost {
  const found = HOST_PATTERN.exec(text)?.groups;
  const port = Number(found?.port ?? PORT);
  if (found?.host === undefined || port === 0 || port > 65_535) return malformed(`'${text}' is not HOST or HOST:PORT`);
  return { host: unescaped(found.host).replace(/^\[|\]$/g, ""), port };
}

function unescaped(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return malformed("it has a broken escape"); // decodeURIComponent says no more than that
  }
}

function malformed(why: string): never {
  const remedy = "write postgres://USER:PASSWORD@HOST:PORT,HOST:PORT/DATABASE";
  throw new EnvironmentError("database-url-malformed", "database", `the URL of the database cannot be used: ${why}`, { remedy });
}
