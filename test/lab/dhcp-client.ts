import { existsSync, readFileSync } from "node:fs";
import { parseDhcpEvents, type DhcpEvent } from "./dhcp-event.js";
import type { Exit, Running } from "./running.js";
import { waitUntil } from "./wait-until.js";

/** Reasons after which the machine has an address. */
const BOUND = new Set(["BOUND", "RENEW", "REBIND", "REBOOT", "BOUND6", "RENEW6", "REBIND6"]);

/** A running dhclient or udhcpc and what its script was told. */
export class DhcpClient {
  readonly interfaceName: string;
  readonly running: Running;
  readonly #eventFile: string;
  /** Events of earlier runs in the same file. */
  readonly #skip: number;

  constructor(interfaceName: string, running: Running, events: { readonly file: string; readonly skip: number }) {
    this.interfaceName = interfaceName;
    this.running = running;
    this.#eventFile = events.file;
    this.#skip = events.skip;
  }

  /** Since this client was started, oldest first. */
  events(): DhcpEvent[] {
    return readEvents(this.#eventFile).slice(this.#skip);
  }

  /** The newest event that gave it an address, or null. */
  bound(): DhcpEvent | null {
    return this.events().findLast((event) => BOUND.has(event.reason)) ?? null;
  }

  /** Waits until the client was given an address, and returns that event. */
  async waitForAddress(options: { readonly deadlineMs?: number; readonly address?: string } = {}): Promise<DhcpEvent> {
    const is = (e: DhcpEvent): boolean => BOUND.has(e.reason) && (options.address === undefined || e.address === options.address);
    return this.waitFor(is, { describe: `an address on ${this.interfaceName}`, ...options });
  }

  /** Waits for the first event that matches. */
  async waitFor(
    matches: (event: DhcpEvent) => boolean,
    options: { readonly deadlineMs?: number; readonly describe?: string } = {},
  ): Promise<DhcpEvent> {
    const events = await waitUntil(() => this.events(), {
      describe: `${options.describe ?? "an event"} (${this.running.name.split(" ").slice(3, 6).join(" ")})`,
      deadlineMs: options.deadlineMs ?? 20_000,
      until: (all) => all.some(matches),
    });
    const found = events.find(matches);
    if (found === undefined) throw new Error("waitUntil returned without the event");
    return found;
  }

  /** Ends the program without a word to the server; the address stays on the interface until the machine reboots or its lifetime ends. */
  stop(): Promise<Exit> {
    return this.running.stop({ signal: "SIGKILL" });
  }
}

/** How many events a file has by now. */
export function countEvents(file: string): number {
  return readEvents(file).length;
}

function readEvents(file: string): DhcpEvent[] {
  return existsSync(file) ? parseDhcpEvents(readFileSync(file, "utf8")) : [];
}
