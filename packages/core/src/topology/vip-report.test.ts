import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { ipPrefix } from "../address/prefix.js";
import { ipAddress } from "../address/ip.js";
import { noteConnection, noteServers } from "./connection.js";
import { Fleet } from "../../../../test/support/fleet.js";
import { holdersOf, virtualAddresses } from "./holders.js";
import { serversFor } from "./servers-for.js";
import { topologyProblems } from "./topology-problems.js";
import { advanceTopology } from "./topology.js";

interface SeedCase {
  readonly given: {
    readonly racks_for_vlan: readonly string[];
    readonly hosts: readonly { readonly host: string; readonly ifs: Record<string, readonly string[]> }[];
  };
  readonly expect: { readonly dns: readonly string[]; readonly ntp: readonly string[] };
}

const seed = JSON.parse(
  readFileSync(fileURLToPath(new URL("../../../../test/fixtures/ha/205-seed-three-hosts.json", import.meta.url)), "utf8"),
) as SeedCase;

const NETWORK = { prefix: ipPrefix("192.168.0.0/24"), site: "default" };
const SECOND = 1000;

/** The 2018 report: three hosts, a database VIP and an API VIP as /32 beside the hosts' own addresses, moved by pacemaker. */
class Report2018 extends Fleet {
  constructor() {
    super();
    for (const { host, ifs } of seed.given.hosts) {
      this.report(host, ifs, 0);
      this.topology = noteServers(this.topology, { rack: host, servers: { dns: true, ntp: true } }, 0);
    }
  }

  lists(now: number): {
    readonly dns: readonly string[];
    readonly ntp: readonly string[];
    readonly problems: readonly unknown[];
  } {
    this.topology = advanceTopology(this.topology, now);
    return serversFor(NETWORK, this.topology, { serving: seed.given.racks_for_vlan, dns: null, ntp: null, upstreamNtp: [] });
  }

  holders(text: string): readonly string[] {
    return holdersOf(this.topology, "default", ipAddress(text)).map(({ rack }) => rack);
  }

  moves(): readonly (readonly string[])[] {
    return this.events.flatMap((event) =>
      event.type === "vip-moved" ? [[event.address, event.from, event.to, `${event.at}`]] : [],
    );
  }
}

const right = { ...seed.expect, problems: [] };

describe("the 2018 report", () => {
  it("gives machines the hosts' own addresses, and NTP only of those that serve", () => {
    const region = new Report2018();
    expect(region.lists(0)).toEqual(right);
    expect(virtualAddresses(region.topology).map(({ address }) => address)).toEqual(["192.168.0.28", "192.168.0.29"]);
  });

  it("keeps both lists while each VIP moves from host to host, and tells the moves", () => {
    const region = new Report2018();
    region.report("maas-1", ["192.168.0.11/24"], 100 * SECOND);
    expect(region.lists(100 * SECOND)).toEqual(right);
    expect(region.holders("192.168.0.28")).toEqual([]);
    region.report("maas-3", ["192.168.0.13/24", "192.168.0.28/32"], 101 * SECOND);
    expect(region.lists(101 * SECOND)).toEqual(right);
    expect(region.holders("192.168.0.28")).toEqual(["maas-3"]);

    // The other one is taken before its first holder has let it go.
    region.report("maas-3", ["192.168.0.13/24", "192.168.0.28/32", "192.168.0.29/32"], 200 * SECOND);
    expect(region.lists(200 * SECOND)).toEqual(right);
    expect(region.holders("192.168.0.29")).toEqual(["maas-2", "maas-3"]);
    region.report("maas-2", ["192.168.0.12/24"], 203 * SECOND);
    expect(region.lists(203 * SECOND)).toEqual(right);
    expect(region.holders("192.168.0.29")).toEqual(["maas-3"]);
    expect(region.lists(900 * SECOND)).toEqual(right);
    expect(region.moves()).toEqual([
      ["192.168.0.28", "maas-1", "maas-3", "101000"],
      ["192.168.0.29", "maas-2", "maas-3", "203000"],
    ]);
  });

  it("keeps both lists when the holder dies without a word, and when it comes back", () => {
    const region = new Report2018();
    region.topology = noteConnection(region.topology, { rack: "maas-1", connected: false }, 10 * SECOND).topology;
    region.report("maas-3", ["192.168.0.13/24", "192.168.0.28/32"], 12 * SECOND);
    expect(region.lists(12 * SECOND)).toEqual(right);
    expect(region.lists(600 * SECOND)).toEqual(right);
    expect(region.holders("192.168.0.28")).toEqual(["maas-3"]);
    expect(topologyProblems(region.topology).map(({ code, at }) => [code, at])).toEqual([["rack-stale", "maas-1"]]);
    region.topology = noteConnection(region.topology, { rack: "maas-1", connected: true }, 700 * SECOND).topology;
    region.report("maas-1", ["192.168.0.11/24"], 700 * SECOND);
    expect(region.lists(700 * SECOND)).toEqual(right);
    expect(region.moves()).toEqual([["192.168.0.28", "maas-1", "maas-3", "12000"]]);
  });

  it("hands out the VIP that an operator pinned, and nothing else", () => {
    const region = new Report2018();
    const pinned = [ipAddress("192.168.0.29")];
    const lists = serversFor(NETWORK, region.topology, { serving: ["maas-1"], dns: pinned, ntp: null, upstreamNtp: [] });
    expect(lists).toEqual({ dns: ["192.168.0.29"], ntp: ["192.168.0.11"], problems: [] });
  });
});
