import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { codes, Desk, MINUTE, nic, NOON, outcome } from "../../../../test/fixtures/alloc/build.js";
import { ipAddress, type IpAddress } from "../address/ip.js";
import type { WireAnswer } from "../wire/wire-answer.js";
import type { Result } from "../problem.js";
import type { Allocated } from "./keep-allocation.js";
import type { Allocation } from "./model.js";
import { nextAddresses } from "./probe-wishes.js";
import { foreignHolders, usedByOther, verificationOf } from "./verify-allocation.js";
import { wasSilent, type WireRecord } from "./wire-record.js";
import { WireRecords } from "./wire-records.js";

const HERE = { site: "default", rack: "r1" };
const ADDRESS = ipAddress("192.0.2.10");

function answer(change: Partial<WireAnswer> = {}): WireAnswer {
  return { address: ADDRESS, hardwareAddresses: [nic(1)], at: NOON, how: "neighbor", ...change };
}
const probe = (at: number, ...holders: number[]): WireAnswer => answer({ at, how: "probe", hardwareAddresses: holders.map(nic) });

function recordAfter(...answers: readonly WireAnswer[]): WireRecord {
  const records = new WireRecords();
  for (const one of answers) records.note(HERE, one);
  const record = records.get("default", ADDRESS);
  if (record === undefined) throw new Error("nothing was noted");
  return record;
}

function addressOf(result: Result<Allocated>): string {
  return result.ok ? result.value.allocation.address : codes(result).join();
}

describe("what is kept of an address", () => {
  it("keeps the last sighting and the last probe apart", () => {
    expect(recordAfter(answer(), probe(NOON + 1))).toMatchObject({
      seenAt: NOON,
      hardwareAddresses: [nic(1)],
      probedAt: NOON + 1,
    });
    expect(wasSilent(recordAfter(answer(), probe(NOON + 1)))).toBe(true);
    expect(wasSilent(recordAfter(probe(NOON + 1), answer({ at: NOON + 2 })))).toBe(false);
    expect(wasSilent(recordAfter(probe(NOON, 1)))).toBe(false);
  });

  it("is confirmed by a probe, and by a neighbour only as far as a probe heard the same", () => {
    expect(recordAfter(answer()).confirmed).toBe(false);
    expect(recordAfter(probe(NOON, 1)).confirmed).toBe(true);
    expect(recordAfter(probe(NOON, 1), answer({ at: NOON + 1 })).confirmed).toBe(true);
    expect(recordAfter(probe(NOON, 1), answer({ at: NOON + 1, hardwareAddresses: [nic(2)] })).confirmed).toBe(false);
  });

  it("takes nothing from an answer that is older or the same again", () => {
    const records = new WireRecords();
    expect(records.note(HERE, probe(NOON, 1))).not.toBeNull();
    expect(records.note(HERE, probe(NOON, 1))).toBeNull();
    expect(records.note(HERE, answer({ at: NOON - 1, hardwareAddresses: [nic(2)] }))).toBeNull();
    expect(records.get("default", ADDRESS)?.hardwareAddresses).toEqual([nic(1)]);
  });

  it("separates sites", () => {
    const records = new WireRecords();
    records.note(HERE, answer());
    expect([records.of("default", ADDRESS)?.at, records.of("other", ADDRESS)]).toEqual([NOON, undefined]);
  });

  it("gives up those of which nothing was learnt for longest", () => {
    const records = new WireRecords([], 2);
    const at = (last: number): IpAddress => ipAddress(`192.0.2.${last}`);
    for (const last of [1, 2, 3]) records.note(HERE, answer({ address: at(last), at: NOON + last }));
    records.note(HERE, answer({ address: at(1), at: NOON + 9 }));
    expect(records.trim().map(({ address }) => address)).toEqual([at(2)]);
    expect([records.size, records.of("default", at(2))]).toEqual([2, undefined]);
    expect(records.trim()).toEqual([]);
  });

  it("tells the oldest first, in whatever order they came, and the same after a restart", () => {
    const some = fc.array(
      fc.record({ last: fc.integer({ min: 1, max: 9 }), at: fc.integer({ min: 1, max: 99 }), silent: fc.boolean() }),
    );
    fc.assert(
      fc.property(some, (list) => {
        const records = new WireRecords();
        const newest = new Map<string, number>();
        for (const { last, at, silent } of list) {
          const address = ipAddress(`192.0.2.${last}`);
          records.note(HERE, answer({ address, at, how: "probe", hardwareAddresses: silent ? [] : [nic(1)] }));
          if (!silent) newest.set(address, Math.max(at, newest.get(address) ?? 0));
        }
        const told = [...records.oldest("default")].map(({ at }) => at);
        expect(told).toEqual([...newest.values()].sort((a, b) => a - b));
        const again = new WireRecords(records.all());
        expect([...again.oldest("default")].map(({ at }) => at)).toEqual(told);
        for (const [address, at] of newest) expect(again.of("default", ipAddress(address))?.at).toBe(at);
      }),
    );
  });
});

describe("whether an allocation is verified", () => {
  const given: Allocation = {
    id: "a-1",
    kind: "machine",
    subnetId: 1,
    address: ADDRESS,
    machineId: "m-1",
    nics: [nic(1)],
    ownerKey: "k",
    name: "web1.rack.example",
    owners: [],
    delivery: "both",
    createdAt: NOON,
  };
  const verify = (...answers: readonly WireAnswer[]): string => verificationOf(given, recordAfter(...answers), [nic(1), nic(2)]);

  it("is born verified when it was probed free shortly before", () => {
    expect(verificationOf(given, undefined, [])).toBe("unverified");
    expect(verify(probe(NOON - 15 * MINUTE))).toBe("verified");
    expect(verify(probe(NOON - 15 * MINUTE - 1))).toBe("unverified");
  });

  it("is verified by a probe later, whether nobody or its own machine answers", () => {
    expect(verify(probe(NOON + MINUTE))).toBe("verified");
    expect(verify(probe(NOON + MINUTE, 2))).toBe("verified");
  });

  it("is in use by another only where a probe heard it, and no longer when a probe hears nobody or the machine", () => {
    const foreign = probe(NOON + MINUTE, 7);
    expect(verify(answer({ at: NOON + MINUTE, hardwareAddresses: [nic(7)] }))).toBe("unverified");
    expect(verify(foreign)).toBe("in-use-by-other");
    expect(verify(probe(NOON + MINUTE, 1, 7))).toBe("in-use-by-other");
    expect(verify(foreign, probe(NOON + 2 * MINUTE))).toBe("verified");
    expect(verify(foreign, probe(NOON + 2 * MINUTE, 1))).toBe("verified");
  });

  it("lets hosts of VIPs and containers have hardware addresses of their own", () => {
    const record = recordAfter(probe(NOON + MINUTE, 7));
    expect(foreignHolders(given, record, [])).toEqual([nic(7)]);
    for (const kind of ["vip", "additional"] as const) expect(foreignHolders({ ...given, kind }, record, [])).toEqual([]);
  });

  it("names both hardware addresses, the rack and the machine", () => {
    expect(usedByOther({ allocation: given, foreign: [nic(7)], record: recordAfter(probe(NOON, 7)) })).toEqual({
      code: "address-in-use-by-other",
      at: "default 192.0.2.10",
      message: `${nic(7)} answers for 192.0.2.10 on rack r1 (${new Date(NOON).toISOString()}), which belongs to web1.rack.example (machine m-1, ${nic(1)})`,
      remedy:
        "find who has it by its hardware address and renumber it, or add the NIC to the machine with `berth machine add-nic`",
    });
  });
});

describe("addresses and the wire", () => {
  function desk(): { desk: Desk; records: WireRecords } {
    const made = new Desk();
    made.declare({ prefix: "192.0.2.8/29" });
    const records = new WireRecords();
    made.wire = records;
    return { desk: made, records };
  }
  const next = (of: Desk): readonly IpAddress[] => nextAddresses(of.state.spaceOf(1), of.context().observed, of.now);

  it("wishes to probe those that the picker would come to next, without those that answered", () => {
    const { desk: one, records } = desk();
    expect(next(one)).toEqual(["192.0.2.9", "192.0.2.10", "192.0.2.11", "192.0.2.12", "192.0.2.13", "192.0.2.14"]);
    records.note(HERE, probe(NOON, 7));
    expect(outcome(one.enroll({ nics: [nic(1)], subnet: "1" }))).toBe("192.0.2.9");
    expect(next(one)).toEqual(["192.0.2.11", "192.0.2.12", "192.0.2.13", "192.0.2.14"]);
    for (const expected of next(one))
      expect(outcome(one.enroll({ nics: [nic(100 + Number(expected.slice(8)))], subnet: "1" }))).toBe(expected);
    expect(next(one)).toEqual([]);
  });

  it("does not take the former holder for a stranger while its address rests, and does when it goes on after that", () => {
    const { desk: one, records } = desk();
    expect(outcome(one.enroll({ nics: [nic(1)], subnet: "1", address: ADDRESS }))).toBe(ADDRESS);
    records.note(HERE, answer({ at: NOON }));
    one.release(nic(1));
    const rests = one.state.spaceOf(1).rest.get(ADDRESS);
    const until = rests?.until ?? 0;
    expect(until).toBeGreaterThan(NOON);
    one.now = until + 1;
    for (const number of [2, 3, 4, 5, 6]) one.enroll({ nics: [nic(number)], subnet: "1" });
    expect(next(one)).toEqual([ADDRESS]);
    records.note(HERE, answer({ at: until + 1 }));
    expect(next(one)).toEqual([]);
    expect(outcome(one.enroll({ nics: [nic(7)], subnet: "1" }))).toBe("subnet-exhausted");
    expect(outcome(one.enroll({ nics: [nic(1)], subnet: "1" }))).toBe(ADDRESS);
  });

  it("may write a VIP down that its owners carry, and none that a stranger has", () => {
    const { desk: one, records } = desk();
    one.enroll({ nics: [nic(1)], subnet: "1" });
    records.note(HERE, probe(NOON, 1));
    expect(addressOf(one.vip({ owners: [nic(1)], subnet: "1", address: ADDRESS }))).toBe(ADDRESS);
    const other = ipAddress("192.0.2.12");
    records.note(HERE, { ...probe(NOON, 7), address: other });
    expect(codes(one.vip({ owners: [nic(1)], subnet: "1", address: other }))).toEqual(["address-held-by-stranger"]);
  });
});
