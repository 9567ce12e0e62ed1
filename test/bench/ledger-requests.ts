import { Caller, enroll } from "./ledger-callers.js";
import type { Service } from "./ledger-service.js";

export const TOKEN = "berth_bench";

/** What one round of one kind of callers came to. */
export interface Rate {
  readonly perSecond: number;
  /** Processor time of the called services for each request, in microseconds. */
  readonly cpuEach: number;
}

/** Asks services to enroll one machine after the other, each a new one. */
export class Requests {
  #machines = 0;

  async rate(services: readonly Service[], { callers, ms }: { readonly callers: number; readonly ms: number }): Promise<Rate> {
    const before = cpuOf(services);
    const urls = services.map(({ url }) => url);
    const next = (): string => `{"nics":["${nic(this.#machines++)}"],"subnet":"1"}`;
    const { count, perSecond } = await enroll({ urls, token: TOKEN, callers, ms, next });
    return { perSecond, cpuEach: (cpuOf(services) - before) / count };
  }
}

/** The subnet that all requests are about. */
export async function declareSubnet({ url }: Service): Promise<void> {
  const caller = await Caller.open({ url, token: TOKEN });
  const body = JSON.stringify({ prefix: "10.0.0.0/8", domain: "bench.example", mode: "static" });
  const status = await caller.post("/api/v1/subnets", body);
  caller.close();
  if (status !== 201) throw new Error(`no subnet: ${status} ${caller.body}`);
}

export function nic(number: number): string {
  const hex = (0x020000000000 + number).toString(16).padStart(12, "0");
  return `${hex.slice(0, 2)}:${hex.slice(2, 4)}:${hex.slice(4, 6)}:${hex.slice(6, 8)}:${hex.slice(8, 10)}:${hex.slice(10)}`;
}

function cpuOf(services: readonly Service[]): number {
  return services.reduce((sum, service) => sum + service.cpu(), 0);
}
