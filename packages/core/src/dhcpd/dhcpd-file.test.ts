import { fc, test } from "@fast-check/vitest";
import { expect, it } from "vitest";
import { linkAt, subnetOf } from "../../../../test/fixtures/dhcpd/subnet.js";
import type { HardwareAddress } from "../address/hardware.js";
import { ipAddress } from "../address/ip.js";
import { ipPrefix } from "../address/prefix.js";
import type { DesiredHost } from "../desired/schema.js";
import { compileDhcpd } from "./compile.js";
import type { DhcpdConfig } from "./config.js";
import { changedPart, DhcpdWriter, renderDhcpd } from "./dhcpd-file.js";

/** The same object for the same machine, as desired states share them; `how` 1 is a machine that changed. */
const hosts = Array.from({ length: 20 }, (_, n): readonly DesiredHost[] =>
  [0, 1].map((how) => ({
    hardwareAddress: `02:00:00:00:0${how}:${(16 + n).toString(16)}` as HardwareAddress,
    address: ipAddress(`192.168.50.${10 + n}`),
    name: n % 5 === 0 ? `m${n}.elsewhere.example` : `m${n}.example.test`,
  })),
);
const second = hosts.map((pair) => pair.map((host) => ({ ...host, address: ipAddress(host.address.replace(".50.", ".51.")) })));

const choice = fc.array(fc.option(fc.constantFrom(0, 1), { nil: null }), { minLength: 20, maxLength: 20 });
const moment = fc.record({
  first: choice,
  second: fc.option(choice, { nil: null }),
  domain: fc.constantFrom("example.test", "b.test"),
});

function configOf(now: { first: (number | null)[]; second: (number | null)[] | null; domain: string }): DhcpdConfig {
  const pick = (from: readonly (readonly DesiredHost[])[], which: (number | null)[]): DesiredHost[] =>
    from.flatMap((pair, n) => (which[n] === null || which[n] === undefined ? [] : (pair[which[n]] ?? [])));
  const other = { id: 2, prefix: ipPrefix("192.168.51.0/24"), mode: "static", gateway: null } as const;
  const compiled = compileDhcpd(
    {
      subnets: [
        subnetOf({ mode: "static", domain: now.domain, hosts: pick(hosts, now.first) }),
        ...(now.second === null ? [] : [subnetOf({ ...other, hosts: pick(second, now.second) })]),
      ],
    },
    { links: [linkAt("eth0", 1, "192.168.50.1"), linkAt("eth1", 2, "192.168.51.1")] },
  );
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.problems));
  return compiled.value;
}

const text = (octets: Uint8Array): string => new TextDecoder().decode(octets);
const declarations = (file: string): string[] => file.split(/^(?=host s)/m).filter((part) => part.startsWith("host s"));

test.prop([fc.array(moment, { minLength: 2, maxLength: 8 })], { numRuns: 200 })(
  "writes the same whatever it wrote before, and has all that changed in the changed part",
  (moments) => {
    const writer = new DhcpdWriter();
    let last: ReturnType<DhcpdWriter["write"]> | null = null;
    for (const now of moments) {
      const config = configOf(now);
      const file = writer.write(config);
      expect(text(file.octets)).toBe(renderDhcpd(config));
      expect(text(file.octets).startsWith(text(file.head))).toBe(true);
      expect(text(file.head)).not.toContain("host s");
      const part = last === null ? null : changedPart(last, file);
      if (last !== null && part === null) expect(text(last.head)).not.toBe(text(file.head));
      if (last !== null && part !== null) {
        expect(text(last.head)).toBe(text(file.head));
        expect(text(part).startsWith(text(file.head))).toBe(true);
        const before = new Set(declarations(text(last.octets)));
        const fresh = declarations(text(file.octets)).filter((declaration) => !before.has(declaration));
        expect(declarations(text(part))).toEqual(fresh);
      }
      last = file;
    }
  },
);

it("has no part of a change that is no small one", () => {
  const writer = new DhcpdWriter();
  const many = (count: number, name: string): DesiredHost[] =>
    Array.from({ length: count }, (_, n) => ({
      hardwareAddress: `02:00:00:00:${(16 + (n >> 7)).toString(16)}:${(16 + (n & 127)).toString(16)}` as HardwareAddress,
      address: ipAddress(`10.0.${1 + (n >> 8)}.${n & 255}`),
      name: `${name}${n}.example.test`,
    }));
  const config = (all: DesiredHost[]): DhcpdConfig => {
    const base = configOf({ first: [], second: null, domain: "example.test" });
    return { ...base, hosts: [{ subnetId: 1, domain: "example.test", hosts: all }] };
  };
  const [none, some, lots] = [[], many(512, "a"), many(513, "b")].map((all) => writer.write(config(all)));
  if (none === undefined || some === undefined || lots === undefined) throw new Error("there are three");
  expect(declarations(text(changedPart(none, some) ?? new Uint8Array()))).toHaveLength(512);
  expect(changedPart(none, lots)).toBeNull();
  expect(text(changedPart(lots, none) ?? new Uint8Array())).toBe(text(none.head));
});
