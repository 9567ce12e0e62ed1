import { ipAddress, type Allocation, type HardwareAddress, type LedgerChange, type Machine } from "@berth/core";
import { expect, test } from "vitest";
import { insertCommit } from "./insert-commit.js";

const chain = { from: { revision: 4, head: "before" }, next: { revision: 5, head: "after" }, channel: "told" };
const nics = ["02:00:00:00:00:01" as HardwareAddress];
const machine: Machine = { id: "m-1", name: "web'1", state: "enrolled", nics, createdAt: 7 };
const allocation: Allocation = {
  id: "a-1",
  kind: "machine",
  subnetId: 1,
  address: ipAddress("10.0.0.1"),
  machineId: "m-1",
  nics,
  ownerKey: "machine/m-1/subnet/1",
  name: "web1.example.com",
  owners: [],
  delivery: "both",
  createdAt: 7,
};
const added: readonly LedgerChange[] = [
  { table: "machine", before: null, after: machine },
  { table: "allocation", before: null, after: allocation },
];

test("values are parameters, one for each table that gets rows", () => {
  const insert = insertCommit(chain, { changes: added, audit: [] });
  expect(insert?.parameters.slice(0, 6)).toEqual([5, "after", 4, "before", JSON.stringify(added), "told"]);
  const rows = insert?.parameters.slice(6).map((text) => JSON.parse(text as string) as unknown);
  expect(rows).toMatchObject([
    [{ id: "m-1", name: "web'1", state: "enrolled", created_at: 7 }],
    [{ hardware_address: nics[0], machine_id: "m-1", position: 0 }],
    [{ id: "a-1", subnet_id: 1, address: "\\x00000000000000000000ffff0a000001" }],
  ]);
  expect(insert?.sql).not.toContain("web");
  expect(insert?.sql).not.toMatch(/\$(?:[1-9]\d|10)\b/);
});

test("the same tables have the same text, whatever the number of rows", () => {
  const more = [...added, { table: "machine", before: null, after: { ...machine, id: "m-2", nics: [] } } as const];
  expect(insertCommit(chain, { changes: more, audit: [] })?.sql).toBe(insertCommit(chain, { changes: added, audit: [] })?.sql);
});

test("a commit that changes or takes away anything is none of these", () => {
  const taken: LedgerChange = { table: "machine", before: machine, after: null };
  const changed: LedgerChange = { table: "machine", before: machine, after: { ...machine, state: "released" } };
  const counted: LedgerChange = { table: "next-subnet", before: 1, after: 2 };
  for (const other of [taken, changed, counted])
    expect(insertCommit(chain, { changes: [...added, other], audit: [] })).toBeNull();
});
