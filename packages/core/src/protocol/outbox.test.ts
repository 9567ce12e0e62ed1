import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ipv4FromNumber, type IpAddress } from "../address/ip.js";
import type { AgentMessage, LeaseReport } from "./messages.js";
import { createOutbox, LEASE_CHANGES_MAX, WINDOW_FRAMES, type Outbox } from "./outbox.js";
import { emptyReportedFacts, mergeObservation, type Observation } from "./reported-facts.js";

function lease(number: number, starts = 0): LeaseReport {
  const address = ipv4FromNumber(number);
  return { address, state: "active", inUse: true, allocatable: false, hardwareAddress: null, dnsLabel: null, starts, ends: null };
}

function drain(outbox: Outbox): AgentMessage[] {
  const messages: AgentMessage[] = [];
  for (let message = outbox.next(); message !== null; message = outbox.next()) {
    messages.push(message);
    if ("sequence" in message) outbox.acknowledge(message.sequence);
  }
  return messages;
}

describe("outbox", () => {
  it("sends no leases before the leases file was read", () => {
    let leases: LeaseReport[] | null = null;
    const outbox = createOutbox(() => leases);
    outbox.open(null);
    expect(drain(outbox)).toEqual([]);
    leases = [];
    outbox.renewLeases();
    expect(drain(outbox)).toMatchObject([{ type: "leases", page: "whole", leases: [] }]);
  });

  it("sends the newest of each, not every step to it", () => {
    const outbox = createOutbox(() => []);
    outbox.open(null);
    drain(outbox);
    for (let accepted = 1; accepted <= 3; accepted++) outbox.setStatus({ accepted, daemons: [], problems: [] });
    for (let starts = 1; starts <= 3; starts++) outbox.changeLeases({ upserts: [lease(1, starts)], gone: [] });
    outbox.changeLeases({ upserts: [], gone: [ipv4FromNumber(2)] });
    expect(drain(outbox)).toMatchObject([
      { type: "status", accepted: 3 },
      { type: "leases", page: "delta", leases: [{ starts: 3 }], gone: ["0.0.0.2"] },
    ]);
  });

  it("has at most a window of frames on the way", () => {
    const outbox = createOutbox(() => []);
    outbox.open(null);
    let sent = 0;
    for (let i = 0; i < WINDOW_FRAMES * 2; i++) {
      outbox.setStatus({ accepted: i, daemons: [], problems: [] });
      if (outbox.next() !== null) sent += 1;
    }
    expect(sent).toBe(WINDOW_FRAMES);
    outbox.acknowledge(1);
    expect(outbox.next()).not.toBeNull();
  });

  it("falls back to a snapshot when an outage brought too many changes", () => {
    const outbox = createOutbox(() => [lease(1)]);
    outbox.open(null);
    const last = drain(outbox).at(-1);
    for (let i = 0; i <= LEASE_CHANGES_MAX; i++) outbox.changeLeases({ upserts: [lease(i)], gone: [] });
    outbox.open(last !== undefined && "sequence" in last ? last.sequence : null);
    expect(drain(outbox)).toMatchObject([{ page: "whole" }]);
  });

  it("cuts a problem to what the wire allows", () => {
    const outbox = createOutbox(() => null);
    outbox.open(null);
    const long = "x".repeat(5_000);
    outbox.setStatus({ accepted: 0, daemons: [], problems: [{ code: long, at: long, message: long, remedy: long }] });
    const [status] = drain(outbox);
    expect(status).toMatchObject({ problems: [{ code: "x".repeat(64), at: "x".repeat(256), message: "x".repeat(1024) }] });
  });

  // The property that counts: whatever is cut off when, once a session lives long enough both sides hold the same leases.
  it("brings both sides to the same leases over any history of changes and cuts", () => {
    const action = fc.oneof(
      { weight: 12, arbitrary: fc.record({ kind: fc.constant("set" as const), address: fc.nat(5), starts: fc.nat(99) }) },
      { weight: 3, arbitrary: fc.record({ kind: fc.constant("drop" as const), address: fc.nat(5) }) },
      {
        weight: 12,
        arbitrary: fc.record({ kind: fc.constant("carry" as const), sent: fc.nat(3), frames: fc.nat(3), answered: fc.boolean() }),
      },
      { weight: 4, arbitrary: fc.record({ kind: fc.constant("cut" as const), lost: fc.nat(3) }) },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant("forget" as const) }) },
      { weight: 2, arbitrary: fc.record({ kind: fc.constant("reread" as const) }) },
    );
    fc.assert(
      fc.property(fc.array(action, { maxLength: 100, size: "max" }), (history) => {
        const rack = new Map<IpAddress, LeaseReport>();
        const outbox = createOutbox(() => [...rack.values()], { leasesPerFrame: 2 });
        let region = emptyReportedFacts();
        let merged: number | null = null;
        const onTheWay: Observation[] = [];
        let carried = 0;
        const carry = (frames: number): void => {
          for (const message of onTheWay.splice(0, frames)) {
            carried = message.sequence;
            const { change } = mergeObservation(region, message, 0);
            if (change.kind === "leases-replaced" || (merged !== null && region.staged === null)) merged = message.sequence;
          }
        };
        const fill = (frames: number): void => {
          for (let left = frames; left > 0; left--) {
            const message = outbox.next();
            if (message !== null) onTheWay.push(message as Observation);
          }
        };
        const cut = (): void => {
          onTheWay.length = 0;
          region.staged = null;
          outbox.open(merged);
        };
        cut();
        for (const step of history) {
          if (step.kind === "set") {
            const value = lease(step.address, step.starts);
            rack.set(value.address, value);
            outbox.changeLeases({ upserts: [value], gone: [] });
          } else if (step.kind === "drop") {
            rack.delete(ipv4FromNumber(step.address));
            outbox.changeLeases({ upserts: [], gone: [ipv4FromNumber(step.address)] });
          } else if (step.kind === "carry") {
            fill(step.sent);
            carry(step.frames);
            if (step.answered) outbox.acknowledge(carried);
          } else if (step.kind === "cut") {
            onTheWay.length = Math.max(0, onTheWay.length - step.lost);
            carry(onTheWay.length);
            cut();
          } else if (step.kind === "forget") {
            region = emptyReportedFacts();
            merged = null;
            cut();
          } else outbox.renewLeases();
        }
        for (let round = 0; round < 10; round++) {
          fill(100);
          carry(onTheWay.length);
          outbox.acknowledge(carried);
        }
        expect(new Map([...region.leases].sort())).toEqual(new Map([...rack].sort()));
      }),
      { numRuns: 500 },
    );
  });
});
