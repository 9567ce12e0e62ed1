import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { Desk, nic, outcome } from "../../../../test/fixtures/alloc/build.js";
import { ipAddress } from "../address/ip.js";
import { addressWarnings } from "./choose-address.js";
import { WireRecords } from "./wire-records.js";

const { given, expect: expected } = JSON.parse(
  readFileSync(new URL("../../../../test/fixtures/alloc/167-neighbours-observed.json", import.meta.url), "utf8"),
) as { given: { subnet: string; observed: Record<string, string> }; expect: { next: string; warning: boolean } };

function deskOf(prefix: string): Desk {
  const desk = new Desk();
  desk.declare({ prefix });
  desk.now = Date.parse("2026-01-01T00:00:00Z");
  const records = new WireRecords();
  for (const [text, at] of Object.entries(given.observed))
    records.note(
      { site: "default", rack: "r1" },
      { address: ipAddress(text), hardwareAddresses: [nic(99)], at: Date.parse(at), how: "neighbor" },
    );
  desk.wire = records;
  return desk;
}

test("case 167: what answered on the wire is given last, the one seen longest ago, with a warning, and never within the window", () => {
  const desk = deskOf(given.subnet);
  const result = desk.enroll({ nics: [nic(1)], subnet: "1" });
  expect(outcome(result)).toBe(expected.next);
  const asked = { nics: [nic(1)], observed: desk.context().observed, now: desk.now };
  const warnings = addressWarnings(desk.state.spaceOf(1), ipAddress(expected.next), asked);
  expect(warnings.map(({ code }) => code)).toEqual(expected.warning ? ["address-seen-before"] : []);
  expect(outcome(desk.enroll({ nics: [nic(2)], subnet: "1" }))).toBe("subnet-exhausted");
  desk.now += 7 * 24 * 3600 * 1000;
  expect(outcome(desk.enroll({ nics: [nic(2)], subnet: "1" }))).toBe("192.0.2.9");
});

test("what answered on the wire is avoided while others are free, and refused by name within the window", () => {
  const desk = deskOf("192.0.2.8/29");
  const all = [1, 2, 3, 4, 5].map((number) => outcome(desk.enroll({ nics: [nic(number)], subnet: "1" })));
  expect(all).toEqual(["192.0.2.11", "192.0.2.12", "192.0.2.13", "192.0.2.14", "192.0.2.10"]);
  const wish = { subnet: "1", address: ipAddress("192.0.2.9") };
  expect(outcome(desk.enroll({ nics: [nic(6)], ...wish }))).toBe("address-held-by-stranger");
  expect(outcome(desk.enroll({ nics: [nic(99)], ...wish }))).toBe("192.0.2.9");
});
