import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { prefixFamily, readDhcpdConf } from "@berth/core";
import { goldenCases } from "./golden-cases.js";

const rendered = goldenCases().filter(({ folder }) => existsSync(join(folder, "dhcpd.conf")));

describe("a dhcpd.conf that Berth wrote", () => {
  it.each(rendered)("$name: is read back with every host that it has", ({ desired, folder, links }) => {
    const text = readFileSync(join(folder, "dhcpd.conf"), "utf8");
    const domains = desired.subnets.map(({ domain }) => domain);
    const reading = readDhcpdConf(text, { file: "dhcpd.conf", domains, given: [] });
    const served = new Set([...links.links, ...(links.relays ?? [])].map(({ subnetId }) => subnetId));
    const ipv4 = desired.subnets.filter(({ prefix }) => prefixFamily(prefix) === 4);
    const hosts = ipv4.filter(({ id, mode }) => served.has(id) && mode !== "off").flatMap((subnet) => subnet.hosts);
    const pairs = (list: readonly { readonly address: string | null; readonly nics: readonly string[] }[]): string[] =>
      list.flatMap(({ address, nics }) => nics.map((nic) => `${nic} ${address ?? ""}`)).sort();
    expect(reading.refusals).toEqual([]);
    const expected = pairs(hosts.map(({ address, hardwareAddress }) => ({ address, nics: [hardwareAddress] })));
    expect(pairs(reading.rows)).toEqual([...new Set(expected)]);
  });
});
