import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { leasesContract } from "../contract.js";
import { createLeaseReader } from "./lease-reader.js";

const FOLDER = fileURLToPath(new URL("../../../../../test/fixtures/leases/cases/", import.meta.url));

type Fields = Record<string, unknown>;

/** The form of `NNN-*.expect.json`; fields that are not listed are not checked. */
interface Expected {
  readonly now?: string;
  readonly leases?: Record<string, Fields>;
  readonly leases6?: Record<string, Fields>;
  readonly leases6_tolerated?: Record<string, Fields>;
  readonly hosts?: Record<string, Fields>;
  readonly hosts_absent?: readonly string[];
  readonly failover?: Record<string, Fields>;
  readonly absent?: readonly string[];
  readonly count?: number;
  readonly diagnostics_min?: number;
  readonly pending_tail?: boolean;
  readonly final_leases?: readonly string[] | Record<string, Fields>;
  readonly dns_names?: readonly string[];
  readonly dns_names_any_of?: readonly (readonly string[])[];
}

function read(bytes: Uint8Array, now: number, final = false) {
  const reader = createLeaseReader();
  reader.push(bytes);
  reader.finish(final);
  return leasesContract(reader, now);
}

const cases = readdirSync(FOLDER)
  .filter((name) => name.endsWith(".leases"))
  .map((name) => name.slice(0, -".leases".length));

describe("cases of the field", () => {
  it("are all there", () => {
    expect(cases.length).toBe(53);
  });

  it.each(cases)("%s", (name) => {
    const expected = JSON.parse(readFileSync(`${FOLDER}${name}.expect.json`, "utf8")) as Expected;
    const bytes = readFileSync(`${FOLDER}${name}.leases`);
    const now = Date.parse(expected.now ?? "2026-01-01T00:00:00Z");
    const got = read(bytes, now);
    expect(got).toMatchObject({
      leases: expected.leases ?? {},
      leases6: { ...expected.leases6, ...expected.leases6_tolerated },
      hosts: expected.hosts ?? {},
      failover: expected.failover ?? {},
    });
    for (const key of expected.absent ?? []) expect({ ...got.leases, ...got.leases6 }).not.toHaveProperty([key]);
    for (const key of expected.hosts_absent ?? []) expect(got.hosts).not.toHaveProperty([key]);
    if (expected.count !== undefined) expect(Object.keys({ ...got.leases, ...got.leases6 })).toHaveLength(expected.count);
    expect(got.diagnostics.length).toBeGreaterThanOrEqual(expected.diagnostics_min ?? 0);
    expect(got.pending_tail).toBe(expected.pending_tail ?? false);
    const labels = Object.values(got.leases).flatMap((lease) => lease.dns_label ?? []);
    if (expected.dns_names !== undefined) expect(labels).toEqual(expected.dns_names);
    if (expected.dns_names_any_of !== undefined) expect(expected.dns_names_any_of).toContainEqual(labels);
  });
});
