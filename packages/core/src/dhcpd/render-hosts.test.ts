import { fc, test } from "@fast-check/vitest";
import { expect, it } from "vitest";
import { ipv4FromNumber } from "../address/ip.js";
import type { HardwareAddress } from "../address/hardware.js";
import type { DesiredHost } from "../desired/schema.js";
import { AsciiText } from "../text/ascii-text.js";
import { addHosts, hostStatement } from "./render-hosts.js";
import { renderStatements } from "./statement.js";

const hardware = (octets: readonly number[]): HardwareAddress =>
  octets.map((octet) => octet.toString(16).padStart(2, "0")).join(":") as HardwareAddress;

const octets = (length: number): fc.Arbitrary<number[]> =>
  fc.array(fc.integer({ min: 0, max: 255 }), { minLength: length, maxLength: length });

/** Names that are refused long before are printed all the same: quoting does not lean on who was asked first. */
const names = fc.oneof(
  fc.stringMatching(/^[a-z0-9-]{1,12}(\.rack1\.example|\.a\.rack1\.example|\.example|\.|)$/),
  fc.string({ unit: "binary", maxLength: 12 }),
  fc.constantFrom("", ".", ".rack1.example", 'm"1.rack1.example', "m1.rack1.exampl\u00e9", "m1.rack1\\.example", "rack1.example"),
);

const hosts = fc.record({
  hardwareAddress: fc.oneof(octets(6), octets(20), octets(1)).map(hardware),
  address: fc.integer({ min: 0, max: 0xffffffff }).map(ipv4FromNumber),
  name: names,
});

test.prop([fc.array(hosts, { maxLength: 8 }), fc.constantFrom("rack1.example", "example", ""), fc.integer({ min: 1, max: 99 })])(
  "the form gives the octets of the statements",
  (all, domain, subnetId) => {
    const group = { subnetId, domain, hosts: all };
    const text = new AsciiText();
    addHosts(text, group);
    expect(text.toString()).toBe(renderStatements(all.map((host) => hostStatement(host, group))));
    expect(new TextDecoder().decode(text.toOctets())).toBe(text.toString());
  },
);

it.each([{ hardwareAddress: "02:00:00:00:00;01" }, { address: "" }, { address: "192.0.2.1;" }])("takes %j for a bug", (wrong) => {
  const host = { hardwareAddress: hardware([2, 0, 0, 0, 0, 1]), address: ipv4FromNumber(1), name: "m1.example", ...wrong };
  expect(() => addHosts(new AsciiText(), { subnetId: 1, domain: "example", hosts: [host as DesiredHost] })).toThrow(
    "not a bare word",
  );
});
