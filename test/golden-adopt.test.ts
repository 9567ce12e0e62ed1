import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { fc, test } from "@fast-check/vitest";
import { describe, expect, it } from "vitest";
import {
  adoptDhcpdConf,
  adoptPlanSchema,
  ipAddress,
  ipv4Number,
  prefixContains,
  type AdoptPlan,
  type DesiredState,
  type FailoverWish,
  type SubnetDhcp,
} from "@berth/core";
import { goldenCases } from "./golden-cases.js";

const root = fileURLToPath(new URL("./fixtures/adopt/", import.meta.url));

function planOf(folder: string): AdoptPlan {
  return adoptDhcpdConf("dhcpd.conf", (name) => {
    const path = join(folder, name);
    return existsSync(path) ? readFileSync(path, "utf8") : null;
  });
}

/** `UPDATE_GOLDEN=1` writes what is read now; the difference is looked at before it is committed. */
describe("dhcpd.conf files as operators write them", () => {
  it.each(readdirSync(root))("%s: come to the plan beside them", (name) => {
    const plan = planOf(join(root, name));
    const path = join(root, name, "plan.json");
    if (process.env.UPDATE_GOLDEN === "1") writeFileSync(path, `${JSON.stringify(plan, null, 2)}\n`);
    expect(plan).toEqual(JSON.parse(readFileSync(path, "utf8")));
    expect(adoptPlanSchema.parse(JSON.parse(JSON.stringify(plan)))).toEqual(plan);
  });
});

const piece = fc.oneof(
  fc.constantFrom(
    "subnet",
    "10.0.0.0",
    "netmask",
    "255.255.255.0",
    "{",
    "}",
    ";",
    "range",
    "pool",
    "host",
    "hardware ethernet",
    ",",
  ),
  fc.constantFrom(
    "option",
    "routers",
    "domain-name",
    '"x.example"',
    '"',
    "\\",
    "include",
    '"dhcpd.conf"',
    "group",
    "shared-network",
    "#",
    "\n",
  ),
  fc.constantFrom(
    "00:00:5e:00:53:01",
    "fixed-address",
    "10.0.0.5",
    "default-lease-time",
    "-1",
    "600",
    "if",
    "class",
    "deny",
    "known-clients",
  ),
  fc.string({ maxLength: 8 }),
);

describe("any text at all", () => {
  test.prop([fc.array(piece, { maxLength: 120 })])("comes to a plan that an import can read", (pieces) => {
    const plan = adoptDhcpdConf("dhcpd.conf", (name) => (name === "dhcpd.conf" ? pieces.join(" ") : null));
    expect(adoptPlanSchema.parse(JSON.parse(JSON.stringify(plan)))).toEqual(plan);
  });

  it("is bounded: deep blocks, files that include each other, endless statements", () => {
    const deep = adoptDhcpdConf("a", () => "group { ".repeat(100_000));
    expect(deep.unreadable.some(({ why }) => why.includes("blocks in each other"))).toBe(true);
    const chain = adoptDhcpdConf("0", (name) => `include "${Number(name) + 1}";`);
    expect(chain.unreadable).toMatchObject([{ why: "more than 16 files include each other" }]);
    const many = adoptDhcpdConf("a", () => Array.from({ length: 30_000 }, (_, n) => `frobnicate ${n};`).join("\n"));
    expect(many.withoutCounterpart).toHaveLength(10_001);
    expect(many.withoutCounterpart.at(-1)?.why).toBe("20000 more that are not listed");
  });
});

const rendered = goldenCases().filter(({ folder }) => existsSync(join(folder, "dhcpd.conf")));

/** Every address, as numbers: windows may be cut differently, but no address may come or go. */
function addressesIn(ranges: readonly { readonly first: string; readonly last: string }[]): number[] {
  return ranges.flatMap(({ first, last }) => {
    const start = ipv4Number(ipAddress(first));
    return Array.from({ length: ipv4Number(ipAddress(last)) - start + 1 }, (_, index) => start + index);
  });
}

/** What the file says of the settings that the subnet has. */
function settingsOf({ dhcp, failover, id, relay }: DesiredState["subnets"][number], text: string): SubnetDhcp {
  const isPaired = failover !== undefined && text.includes(`failover peer "s${id}";`);
  const { mclt, split } = failover ?? {};
  return {
    ...dhcp,
    ...(relay === undefined ? {} : { relay: { servers: [relay.server] } }),
    ...(isPaired ? { failover: failover.role === "primary" ? ({ mclt, split } as FailoverWish) : {} } : {}),
  };
}

describe("a dhcpd.conf that Berth wrote", () => {
  it.each(rendered)("$name: comes back as the subnets, windows and hosts that it was made from", ({ desired, folder }) => {
    const plan = planOf(folder);
    expect(plan.unreadable).toEqual([]);
    const text = readFileSync(join(folder, "dhcpd.conf"), "utf8");
    const served = desired.subnets.filter(({ prefix }) => text.includes(`subnet ${prefix.split("/")[0] ?? ""} netmask`));
    const ranges = [...text.matchAll(/range (\S+) /g)].map(([, first = ""]) => ipAddress(first));
    const read = new Map(plan.subnets.map((subnet) => [subnet.prefix, subnet]));
    expect([...read.keys()].sort()).toEqual(served.map(({ prefix }) => prefix).sort());
    for (const subnet of served) {
      const { dhcp, domain, enlistment, gateway, leaseTime, maxLeaseTime, window } = read.get(subnet.prefix) ?? {};
      // A snippet is other people's words, which are judged one by one.
      if (subnet.dhcp?.snippet === undefined) expect(dhcp ?? {}).toEqual(settingsOf(subnet, text));
      expect({ domain, gateway, leaseTime, maxLeaseTime }).toEqual({
        domain: subnet.domain,
        gateway: subnet.dhcp?.routers?.[0] ?? subnet.gateway,
        leaseTime: subnet.leaseTime,
        maxLeaseTime: subnet.maxLeaseTime,
      });
      if (subnet.mode === "link-local") expect(enlistment?.leaseTime).toBe(subnet.enlistment?.leaseTime);
      else expect(enlistment).toBeNull();
      expect(window !== null).toBe(ranges.some((first) => prefixContains(subnet.prefix, first)));
    }
    const pairs = (list: readonly { readonly address: string | null; readonly nics: readonly string[] }[]): string[] =>
      list.flatMap(({ address, nics }) => nics.map((nic) => `${nic} ${address ?? ""}`)).sort();
    const hosts = served.flatMap((subnet) =>
      subnet.hosts.map(({ address, hardwareAddress }) => ({ address, nics: [hardwareAddress] })),
    );
    expect(pairs(plan.machines)).toEqual([...new Set(pairs(hosts))]);
  });

  it("loses no dynamic address without saying so", () => {
    const folder = rendered.find(({ name }) => name === "window-with-holes")?.folder ?? "";
    const plan = planOf(folder);
    const [subnet] = plan.subnets;
    const text = readFileSync(join(folder, "dhcpd.conf"), "utf8");
    const ranges = [...text.matchAll(/range (\S+) (\S+);/g)].map(([, first = "", last = ""]) => ({ first, last }));
    const leftOut = plan.withoutCounterpart.flatMap(({ why }) => {
      const [, first, last] = /: ([\d.]+)-([\d.]+) is left out/.exec(why) ?? [];
      return first === undefined || last === undefined ? [] : [{ first, last }];
    });
    const holes = new Set(addressesIn(subnet?.reserved ?? []));
    const taken = addressesIn([subnet?.window ?? []].flat()).filter((address) => !holes.has(address));
    expect([...taken, ...addressesIn(leftOut)].sort()).toEqual(addressesIn(ranges).sort());
  });
});
