import {
  EMPTY_LEDGER,
  ipAddress,
  type Allocation,
  type HardwareAddress,
  type KeptAnswer,
  type LedgerChange,
  type Machine,
  type NameRecord,
  type Reservation,
} from "@berth/core";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { AuditEntry, Store } from "../../../packages/coordinator/src/store/store.js";
import { subnet, type StoreUnderTest } from "./store-contract.js";

const reservation: Reservation = {
  id: "r-1",
  subnetId: 1,
  kind: "exclusion",
  first: ipAddress("192.168.50.100"),
  last: ipAddress("192.168.50.109"),
  note: "the old SAN",
  createdAt: 5,
};
const alias: NameRecord = { id: "n-1", name: "www.rack.example", type: "CNAME", value: "db1.rack.example", createdAt: 5 };
const address: NameRecord = { id: "n-2", name: "nas.rack.example", type: "A", value: "192.0.2.7", createdAt: 6 };
const answer: KeptAnswer = { actor: "admin", key: "k-1", request: "ff", answer: "1", at: 5 };
const entry: AuditEntry = { at: 9, actor: "admin", action: "add-record", subject: "n-1", detail: null };

/** The promises of every engine and the fake about reservations, operators' records, kept answers and the newest of the audit log. */
export function namesContract(name: string, underTest: () => Promise<StoreUnderTest>): void {
  describe(`${name} keeps names, reservations and answers`, () => {
    let engine: StoreUnderTest;
    let store: Store;
    beforeEach(async () => {
      engine = await underTest();
      store = await engine.open();
      await store.ledger.commit(
        [
          { table: "subnet", before: null, after: subnet },
          { table: "reservation", before: null, after: reservation },
          { table: "record", before: null, after: alias },
          { table: "record", before: null, after: address },
          { table: "answer", before: null, after: answer },
        ],
        [entry],
      );
    });
    afterEach(async () => {
      await store.close();
      await engine.discard();
    });
    const reloaded = async (): Promise<unknown> => {
      await store.close();
      store = await engine.open();
      return (await store.ledger.load()).content;
    };

    test("over a close, changed and removed", async () => {
      const content = { ...EMPTY_LEDGER, subnets: [subnet] };
      expect(await reloaded()).toEqual({
        ...content,
        reservations: [reservation],
        records: [alias, address],
        answers: [answer],
      });
      await store.ledger.commit(
        [
          { table: "reservation", before: reservation, after: { ...reservation, note: "moved" } },
          { table: "record", before: alias, after: null },
          { table: "answer", before: answer, after: { ...answer, answer: "2" } },
        ],
        [],
      );
      const changed = {
        reservations: [{ ...reservation, note: "moved" }],
        records: [address],
        answers: [{ ...answer, answer: "2" }],
      };
      expect(await reloaded()).toEqual({ ...content, ...changed });
      await store.ledger.commit(
        [
          { table: "reservation", before: { ...reservation, note: "moved" }, after: null },
          { table: "record", before: address, after: null },
          { table: "answer", before: { ...answer, answer: "2" }, after: null },
        ],
        [],
      );
      expect(await reloaded()).toEqual(content);
    });

    test.each<[string, LedgerChange]>([
      ["a record twice", { table: "record", before: null, after: { ...address, id: "n-9" } }],
      ["two aliases of one name", { table: "record", before: null, after: { ...alias, id: "n-9", value: "b.example" } }],
      [
        "a reservation outside its subnet",
        { table: "reservation", before: null, after: { ...reservation, id: "r-9", first: ipAddress("192.168.49.1") } },
      ],
      [
        "a reservation that ends before it begins",
        { table: "reservation", before: null, after: { ...reservation, id: "r-9", first: ipAddress("192.168.50.110") } },
      ],
      ["an answer twice", { table: "answer", before: null, after: { ...answer, answer: "3" } }],
    ])("refuses %s", async (_, change) => {
      await expect(store.ledger.commit([change], [])).rejects.toMatchObject({ code: "store-conflict" });
      expect(await store.ledger.load()).toMatchObject({ revision: 1 });
    });

    test("as they are, whatever stands in the text, in a commit that only adds", async () => {
      const nics = ["02:00:00:00:00:77" as HardwareAddress];
      const machine: Machine = { id: "m-odd", name: null, state: "enrolled", nics, createdAt: 9 };
      const allocation: Allocation = {
        id: "a-odd",
        kind: "machine",
        subnetId: 1,
        address: ipAddress("192.168.50.200"),
        machineId: machine.id,
        nics,
        ownerKey: "machine/m-odd/subnet/1",
        name: "odd.rack1.example",
        owners: [],
        delivery: "both",
        createdAt: 9,
      };
      const odd: KeptAnswer = { actor: 'token "ö\\n\u2028', key: "'; --", request: "r", answer: '{"a":"\\ud800"}', at: 9 };
      const added: readonly LedgerChange[] = [
        { table: "machine", before: null, after: machine },
        { table: "allocation", before: null, after: allocation },
        { table: "answer", before: null, after: odd },
      ];
      const said = { ...entry, actor: 'token "ö\\n\u2028\n\t$1', subject: "😀 {}", detail: [{ text: "\\x00\u0001" }] };
      expect(await store.ledger.commit(added, [said, entry])).toBe(2);
      expect(await store.ledger.commit([], [said])).toBe(3);
      const numbered = [said, entry, said].map((each, place) => ({ ...each, number: place + 2 }));
      expect(await store.audit.list(1, 10)).toEqual(numbered);
      expect(await reloaded()).toMatchObject({ machines: [machine], allocations: [allocation], answers: [answer, odd] });
    });

    test("details of any shape in the audit log of a commit that only adds", async () => {
      const machine: Machine = { id: "m-odd", name: null, state: "enrolled", nics: [], createdAt: 9 };
      const details = [
        null,
        "text",
        7,
        [],
        {},
        { a: ['"', "\\", "\n", { b: null }] },
        "\u0000",
        ["\u0000", "\ud800", "\\u0000"],
        { "ö😀": [1.5e300] },
      ];
      const said = details.map((detail) => ({ ...entry, detail }));
      await store.ledger.commit([{ table: "machine", before: null, after: machine }], said);
      expect((await store.audit.list(1, 100)).map(({ detail }) => detail)).toEqual(details);
    });

    test("lists the audit log from the newest on, of one actor or action", async () => {
      for (const action of ["a", "b", "a"]) await store.audit.append({ ...entry, action, actor: action === "b" ? "bob" : "ann" });
      const numbers = async (asked: Partial<Parameters<Store["audit"]["newest"]>[0]>): Promise<number[]> =>
        (await store.audit.newest({ before: null, actor: null, action: null, limit: 10, ...asked })).map(({ number }) => number);
      expect(await numbers({})).toEqual([4, 3, 2, 1]);
      expect(await numbers({ limit: 2 })).toEqual([4, 3]);
      expect(await numbers({ before: 3 })).toEqual([2, 1]);
      expect(await numbers({ action: "a" })).toEqual([4, 2]);
      expect(await numbers({ actor: "bob" })).toEqual([3]);
      const first = await store.audit.newest({ before: 2, actor: null, action: null, limit: 1 });
      expect(first).toEqual([{ ...entry, number: 1 }]);
    });
  });
}
