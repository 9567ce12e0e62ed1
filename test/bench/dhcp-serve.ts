import { readFileSync, writeFileSync } from "node:fs";
import { Agent, request } from "node:http";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Rack } from "../lab/berth-rack.js";
import { Region } from "../lab/berth-region.js";
import type { Host } from "../lab/host.js";
import { createLab } from "../lab/lab.js";
import { strangerMac, type RawDhcpClient } from "../lab/raw-dhcp-client.js";
import { median } from "./measurement.js";

const ROUNDS = 7;
/** The client asks again so often: less than a millisecond of work for dhcpd. */
const ASK_EVERY_MS = 5;
/** A change sooner than a second after dhcpd's last start waits for that second to pass, so that a storm is few restarts: what is timed is the first after it. */
const QUIET_MS = 1_200;

export interface ServeTimes {
  /** Median milliseconds from the request to enroll a machine to dhcpd's offer of its address. */
  readonly enrollMs: number;
  /** Stop to `Server starting service` of a dhcpd on the same file and as many leases. */
  readonly restartMs: number;
}

/** A real region and rack with so many machines; one more is enrolled in each round, and a bare dhcpd beside them is restarted. */
export async function measureServe(machines: number): Promise<ServeTimes> {
  const lab = await createLab({ name: "bench-dhcp-dns" });
  try {
    const link = await lab.addLink("rack1");
    const region = new Region(await lab.addRegion("region1"), "10.240.1.10");
    const host = await lab.addRack("rack1");
    await host.connect(link, { addresses: ["10.60.0.1/16"] });
    const crowd = await lab.addHost("crowd");
    await crowd.connect(link);
    await region.start();
    const rack = new Rack(host);
    await rack.join(region);
    await rack.start();
    await region.berthJson("subnet", "create", "10.60.0.0/16", "--domain", "rack1.example", "--mode", "static");
    await importMachines(region, machines);
    await rack.waitUntilServing({ deadlineMs: 120_000 });
    const bare = await lab.addRack("bare", { backbone: null });
    await bare.connect(await lab.addLink("bare"), { addresses: ["10.60.0.1/16"] });
    return await measure(await crowd.rawDhcp(), { region, rack, bare });
  } finally {
    await lab.close();
  }
}

async function measure(
  client: RawDhcpClient,
  { region, rack, bare }: { readonly region: Region; readonly rack: Rack; readonly bare: Host },
): Promise<ServeTimes> {
  const api = new EnrollApi(region);
  const times: { enroll: number; restart: number }[] = [];
  for (let round = -2; round < ROUNDS; round++) {
    const mac = strangerMac(round + 100);
    await sleep(QUIET_MS);
    const start = process.hrtime.bigint();
    await api.enroll(mac);
    while ((await client.discover({ mac }, { waitMs: ASK_EVERY_MS, attempts: 1 })) === null);
    const enroll = Number(process.hrtime.bigint() - start) / 1e6;
    await rack.waitUntilServing();
    const restart = await restartBare(bare, rack);
    if (round >= 0) times.push({ enroll, restart }); // the first rounds warm both up
  }
  return { enrollMs: median(times.map(({ enroll }) => enroll)), restartMs: median(times.map(({ restart }) => restart)) };
}

/** What a person at the keyboard would have to wait for: the old process ends, a new one serves. */
async function restartBare(bare: Host, rack: Rack): Promise<number> {
  const [conf, leases] = [bare.path("dhcpd.conf"), bare.path("dhcpd.leases")];
  writeFileSync(conf, readFileSync(rack.path("dhcpd", "dhcpd.conf")));
  writeFileSync(leases, readFileSync(rack.path("dhcpd", "dhcpd.leases")));
  const argv = [bare.unconfined("dhcpd"), "-4", "-d", "--no-pid", "-cf", conf, "-lf", leases, "eth0"] as const;
  const serving = async (): ReturnType<Host["spawn"]> => {
    const dhcpd = await bare.spawn(argv, { logFile: bare.path("dhcpd.log") });
    await dhcpd.waitForLine("Server starting service", { deadlineMs: 60_000 });
    return dhcpd;
  };
  const before = await serving();
  const start = process.hrtime.bigint();
  await before.stop();
  const after = await serving();
  const restart = Number(process.hrtime.bigint() - start) / 1e6;
  await after.stop();
  return restart;
}

async function importMachines(region: Region, count: number): Promise<void> {
  const path = region.host.path("machines.csv");
  const rows = Array.from({ length: count }, (_, n) => `m${n},${strangerMac(n + 1_000)},10.60.${1 + (n >> 8)}.${n & 255}`);
  writeFileSync(path, `${["name,mac,address", ...rows].join("\n")}\n`);
  const imported = await region.berth("import", "csv", path);
  if (imported.status !== 0) throw new Error(`the import ended with ${imported.status}: ${imported.stderr.slice(0, 2000)}`);
}

/** Asks the coordinator over one kept connection: a new process for each request would be timed as well. */
class EnrollApi {
  readonly #options: { socketPath: string; path: string; method: string; agent: Agent; headers: Record<string, string> };

  constructor({ dataDir }: Region) {
    const token = readFileSync(join(dataDir, "admin.token"), "utf8").trim();
    this.#options = {
      socketPath: join(dataDir, "api.sock"),
      path: "/api/v1/machines/enroll",
      method: "POST",
      agent: new Agent({ keepAlive: true, maxSockets: 1 }),
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    };
  }

  enroll(mac: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const asked = request(this.#options, (answer) => {
        answer.resume();
        answer.on("end", () => {
          if (answer.statusCode === 200 || answer.statusCode === 201) resolve();
          else reject(new Error(`enrolling ended with ${answer.statusCode}`));
        });
      });
      asked.on("error", reject).end(JSON.stringify({ nics: [mac], subnet: "1" }));
    });
  }
}
