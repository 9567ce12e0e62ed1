import { fileURLToPath } from "node:url";
import type { OmapiFailover, OmapiLease, Problem } from "@berth/core";
import type { Host } from "../host.js";
import type { Running } from "../running.js";
import { waitUntil } from "../wait-until.js";

const file = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

export interface Outcome<T> {
  readonly ok?: boolean;
  readonly value?: T;
  readonly problems?: readonly Problem[];
  /** Code of the failure of the world. */
  readonly failed?: string;
}

/** The agent's OMAPI client on a host of the lab. */
export class OmapiAsker {
  readonly #program: Running;

  private constructor(program: Running) {
    this.#program = program;
  }

  static async start(
    host: Host,
    target: { readonly port: number; readonly secret: string; readonly timeoutMs?: number },
  ): Promise<OmapiAsker> {
    const tsx = file("../../../node_modules/tsx/dist/cli.mjs");
    const { port, secret, timeoutMs = 3_000 } = target;
    const options = [String(port), secret, String(timeoutMs)];
    const argv = [process.execPath, tsx, "--tsconfig", file("../../contract/store/kill/tsx.json")] as const;
    return new OmapiAsker(await host.spawn([...argv, file("omapi-program.ts"), ...options]));
  }

  lookUp(address: string): Promise<Outcome<OmapiLease>> {
    return this.#call("look-up", address);
  }

  free(lease: { readonly address: string; readonly mac: string; readonly ends: number }): Promise<Outcome<OmapiLease>> {
    return this.#call("free", lease.address, lease.mac, String(lease.ends));
  }

  failover(name: string): Promise<Outcome<OmapiFailover>> {
    return this.#call("failover", name);
  }

  partnerDown(name: string): Promise<Outcome<OmapiFailover>> {
    return this.#call("partner-down", name);
  }

  async #call<T>(...call: readonly string[]): Promise<Outcome<T>> {
    const before = this.#program.lines.length;
    this.#program.child.stdin?.write(`${JSON.stringify(call)}\n`);
    const lines = await waitUntil(() => this.#program.lines, {
      describe: `an outcome of ${call.join(" ")}`,
      deadlineMs: 30_000,
      until: (all) => all.length > before,
    });
    return JSON.parse(lines[before] ?? "") as Outcome<T>;
  }
}
