import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import postgres, { type Sql } from "postgres";

/** Where Debian's package postgresql-15 or a newer one puts its programs. */
const DEBIAN = "/usr/lib/postgresql";
const USER = "berth";
const START_MS = 60_000;
const STANDBY_LOOKS = 20;

/** Mounts a small disk that only this server sees and that is gone with it, then becomes the server. */
const ON_SMALL_DISK =
  'mount -t tmpfs -o size=16m,mode=0700,uid=postgres,gid=postgres tmpfs "$1" && shift && exec setpriv --reuid=postgres --regid=postgres --clear-groups "$@"';

interface Place {
  readonly programs: string;
  readonly folder: string;
  readonly port: number;
  /** Null where there is none. */
  readonly smallDisk: string | null;
}

/**
 * A real PostgreSQL server of a test's own, in a temporary folder and on loopback only. It runs as the user `postgres`, because it refuses to
 * run as root. Nothing of it is left after {@link PostgresServer.remove}, and none outlives this process.
 */
export class PostgresServer {
  readonly port: number;
  readonly #place: Place;
  #process: ChildProcess | null = null;

  private constructor(place: Place) {
    this.#place = place;
    this.port = place.port;
    process.once("exit", this.#endWithProcess);
  }

  /** A new, empty server. `settings` as its command line takes them: `fsync=off`. A small disk is empty at each start and needs root. */
  static async create(settings: readonly string[] = [], { smallDisk = false } = {}): Promise<PostgresServer> {
    const place = await newPlace(smallDisk);
    const options = ["-U", USER, "-A", "trust", "-N", "-E", "UTF8", "--locale=C.UTF-8"];
    await runAsPostgres(place, "initdb", ["-D", dataOf(place), ...options]);
    const server = new PostgresServer(place);
    await server.start(settings);
    return server;
  }

  /** A standby that streams from this server until it is promoted. */
  async createStandby(settings: readonly string[] = []): Promise<PostgresServer> {
    const place = await newPlace();
    const source = ["-h", "127.0.0.1", "-p", String(this.port), "-U", USER];
    await runAsPostgres(place, "pg_basebackup", ["-D", dataOf(place), ...source, "-R", "-X", "stream", "-c", "fast"]);
    const standby = new PostgresServer(place);
    await standby.start(settings);
    return standby;
  }

  /** Starts it, also after {@link kill}; resolves when it answers. */
  async start(settings: readonly string[] = []): Promise<void> {
    const { folder, programs, port } = this.#place;
    const own = ["listen_addresses=127.0.0.1", `unix_socket_directories=${folder}`, "max_wal_senders=4", "wal_level=replica"];
    const args = ["-D", dataOf(this.#place), "-p", String(port)];
    for (const setting of [...own, "shared_buffers=16MB", ...settings]) args.push("-c", setting);
    const child = spawnServer(this.#place, [join(programs, "postgres"), ...args]);
    this.#process = child;
    let said = "";
    child.stderr?.on("data", (chunk: Buffer) => (said = (said + chunk.toString()).slice(-4000)));
    const deadline = Date.now() + START_MS;
    while (!(await this.#answers())) {
      if (child.exitCode !== null || Date.now() > deadline) throw new Error(`PostgreSQL did not start: ${said}`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  /** Where the small disk is, for a tablespace. */
  get smallDisk(): string {
    if (this.#place.smallDisk === null) throw new Error("the server was made without a small disk");
    return this.#place.smallDisk;
  }

  /** An empty database of its own; answers its name. */
  async createDatabase(name: string): Promise<string> {
    await this.ask("postgres", (sql) => sql.unsafe(`create database ${name}`));
    return name;
  }

  /** As `--database` takes it; other servers follow this one in the list of hosts. */
  url(database: string, ...others: readonly PostgresServer[]): string {
    const hosts = [this, ...others].map(({ port }) => `127.0.0.1:${port}`);
    return `postgres://${USER}@${hosts.join(",")}/${database}`;
  }

  /** Over a connection of its own that ends with the answer. */
  async ask<T>(database: string, question: (sql: Sql) => PromiseLike<T>): Promise<T> {
    const sql = postgres(this.url(database), { max: 1, onnotice: () => undefined, connect_timeout: 5 });
    try {
      return await question(sql);
    } finally {
      await sql.end();
    }
  }

  /** Makes a standby the primary. */
  async promote(): Promise<void> {
    await this.ask("postgres", (sql) => sql`select pg_promote(true, 60)`);
  }

  /** Resolves when a standby receives this server's changes as they are made. */
  async streams(): Promise<void> {
    for (let look = 0; look < STANDBY_LOOKS; look++) {
      const rows = await this.ask("postgres", (sql) => sql`select 1 from pg_stat_replication where state = 'streaming'`);
      if (rows.length > 0) return;
      await new Promise((resolve) => setTimeout(resolve, 250));
    }
    throw new Error("the standby does not stream");
  }

  /** As when the machine dies: the server and each of its processes, at once. */
  async kill(): Promise<void> {
    const server = this.#process;
    if (server === null) return;
    const children = childrenOf(server.pid ?? 0);
    server.kill("SIGKILL");
    for (const pid of children) tryKill(pid);
    await ended(server);
    this.#process = null;
  }

  /** Ends it in order: connections are closed, nothing is to be recovered at its next start. */
  async stop(): Promise<void> {
    const server = this.#process;
    if (server === null) return;
    server.kill("SIGINT");
    await ended(server);
    this.#process = null;
  }

  /** Ends it and removes its folder. */
  async remove(): Promise<void> {
    await this.kill();
    process.removeListener("exit", this.#endWithProcess);
    rmSync(this.#place.folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }

  readonly #endWithProcess = (): void => {
    if (this.#process !== null) for (const pid of [this.#process.pid ?? 0, ...childrenOf(this.#process.pid ?? 0)]) tryKill(pid);
    rmSync(this.#place.folder, { recursive: true, force: true });
  };

  async #answers(): Promise<boolean> {
    try {
      await this.ask("postgres", (sql) => sql`select 1`);
      return true;
    } catch {
      return false; // it still starts: start() looks again until its deadline
    }
  }
}

async function newPlace(withSmallDisk = false): Promise<Place> {
  const programs = findPrograms();
  const folder = mkdtempSync(join(tmpdir(), "berth-postgres-"));
  const { uid, gid } = postgresUser();
  if (uid !== undefined && gid !== undefined) chownSync(folder, uid, gid);
  const smallDisk = withSmallDisk ? join(folder, "small") : null;
  if (smallDisk !== null) mkdirSync(smallDisk);
  return { programs, folder, port: await freePort(), smallDisk };
}

function spawnServer({ folder, smallDisk }: Place, command: readonly [string, ...string[]]): ChildProcess {
  const options = { cwd: folder, stdio: ["ignore", "ignore", "pipe"] as ("ignore" | "pipe")[] };
  if (smallDisk === null) return spawn(command[0], command.slice(1), { ...options, ...postgresUser() });
  const mount = ["--mount", "--propagation", "private", "sh", "-c", ON_SMALL_DISK, "sh", smallDisk];
  return spawn("unshare", [...mount, ...command], options);
}

/** The newest that is installed. Throws what to install: a test without its server must fail. */
function findPrograms(): string {
  const versions = existsSync(DEBIAN) ? readdirSync(DEBIAN).filter((version) => Number(version) >= 15) : [];
  const newest = versions.sort((a, b) => Number(b) - Number(a))[0];
  if (newest === undefined) throw new Error("PostgreSQL 15 is not installed: apt-get install postgresql-15");
  return join(DEBIAN, newest, "bin");
}

/** Of `postgres` when this process is root; its own otherwise. */
function postgresUser(): { readonly uid?: number; readonly gid?: number } {
  if (process.getuid?.() !== 0) return {};
  const line = readFileSync("/etc/passwd", "utf8")
    .split("\n")
    .find((entry) => entry.startsWith("postgres:"));
  const [, , uid, gid] = line?.split(":") ?? [];
  if (uid === undefined || gid === undefined) throw new Error("there is no user postgres: apt-get install postgresql-15");
  return { uid: Number(uid), gid: Number(gid) };
}

async function runAsPostgres({ programs, folder }: Place, program: string, args: readonly string[]): Promise<void> {
  const child = spawn(join(programs, program), args, { ...postgresUser(), cwd: folder, stdio: ["ignore", "ignore", "pipe"] });
  let said = "";
  child.stderr.on("data", (chunk: Buffer) => (said += chunk.toString()));
  await once(child, "close");
  if (child.exitCode !== 0) throw new Error(`${program} failed: ${said}`);
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once("error", reject);
    probe.listen(0, "127.0.0.1", () => {
      const address = probe.address();
      const port = typeof address === "object" && address !== null ? address.port : 0;
      probe.close(() => resolve(port));
    });
  });
}

function dataOf({ folder }: Place): string {
  return join(folder, "data");
}

function childrenOf(pid: number): readonly number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").filter(Boolean).map(Number);
  } catch {
    return []; // it is gone, and they with it
  }
}

function tryKill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    return; // gone by itself
  }
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
}
