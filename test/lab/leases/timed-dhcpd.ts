import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Host } from "../host.js";
import { requireTools } from "../require-tools.js";
import type { Running } from "../running.js";

/** dhcpd with a clock of its own (libfaketime), so that hours of leases pass in a test. */
export class TimedDhcpd {
  readonly leasesFile: string;
  /** What the wall clock of this dhcpd is ahead of the machine's. */
  aheadSeconds = 0;
  readonly #host: Host;
  readonly #oracle: Host;
  readonly #conf: string;
  readonly #aheadFile: string;
  #running: Running | null = null;
  #dumps = 0;

  /** `oracle` is a host with the same interface and addresses on a link where nobody else is. */
  constructor(host: Host, oracle: Host, conf: string) {
    requireTools(["dhcpd", "faketime"]);
    this.#host = host;
    this.#oracle = oracle;
    this.#conf = host.path("dhcpd.conf");
    this.#aheadFile = host.path("ahead");
    const directory = host.path("leases");
    mkdirSync(directory);
    this.leasesFile = join(directory, "dhcpd.leases");
    writeFileSync(this.leasesFile, "");
    writeFileSync(this.#conf, conf);
    this.jump(0);
  }

  async start(): Promise<void> {
    this.#running = await this.#launch(this.#host, this.leasesFile);
  }

  async stop(): Promise<void> {
    await this.#running?.stop();
    this.#running = null;
  }

  /** Sets the clock on. dhcpd notices with the next packet. */
  jump(seconds: number): void {
    this.aheadSeconds += seconds;
    writeFileSync(`${this.#aheadFile}.new`, `+${this.aheadSeconds}\n`);
    renameSync(`${this.#aheadFile}.new`, this.#aheadFile);
  }

  /** dhcpd's own view: what another dhcpd writes back after it has read a copy of the file as it is now. */
  async dump(): Promise<string> {
    const copy = this.#oracle.path(`dump-${++this.#dumps}.leases`);
    copyFileSync(this.leasesFile, copy);
    const running = await this.#launch(this.#oracle, copy);
    await running.stop();
    if (running.lines.some((line) => line.includes("Corrupt")))
      throw new Error(`dhcpd could not read its own file: ${running.tail()}`);
    return readFileSync(copy, "utf8");
  }

  async #launch(host: Host, leases: string): Promise<Running> {
    const argv = [host.unconfined("dhcpd"), "-4", "-f", "-d", "--no-pid", "-cf", this.#conf, "-lf", leases, "eth0"] as const;
    const env = { LD_PRELOAD: fakeTimeLibrary(), FAKETIME_TIMESTAMP_FILE: this.#aheadFile, FAKETIME_NO_CACHE: "1" };
    const running = await host.spawn(argv, { env, logFile: host.path("dhcpd.log") });
    await running.waitForLine("Server starting service.");
    return running;
  }
}

/** faketime(1) finds it by itself but starts the program as a child, whose pid nobody knows. */
function fakeTimeLibrary(): string {
  const root = "/usr/lib";
  for (const name of readdirSync(root)) {
    const path = join(root, name, "faketime", "libfaketime.so.1");
    if (existsSync(path)) return path;
  }
  throw new Error(`no libfaketime.so.1 below ${root}: apt-get install -y --no-install-recommends faketime`);
}
