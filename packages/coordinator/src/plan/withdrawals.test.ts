import type { DaemonStatus } from "@berth/core";
import { expect, test } from "vitest";
import { Withdrawals } from "./withdrawals.js";

const SECOND = 1000;
const MINUTE = 60 * SECOND;

function rack(accepted: number, running: number | null = accepted) {
  const dhcpd: DaemonStatus = {
    name: "dhcpd",
    state: "converged",
    desired: null,
    written: null,
    running: null,
    generation: running,
    problems: [],
  };
  return { id: "r1", accepted, daemons: [dhcpd] };
}

test("a release is withdrawn when the rack runs a plan made after it, not before", () => {
  const withdrawals = new Withdrawals();
  withdrawals.noteCurrent("r1", 1, 0);
  withdrawals.noteRunning(rack(1), 0);
  const released = MINUTE;
  withdrawals.noteCurrent("r1", 2, released + SECOND);
  withdrawals.noteCurrent("r1", 2, released + MINUTE);
  withdrawals.noteRunning(rack(1), released + MINUTE);
  expect(withdrawals.withdrawnAt("r1", released)).toBeNull();
  withdrawals.noteRunning(rack(2, null), released + 40 * MINUTE);
  expect(withdrawals.withdrawnAt("r1", released)).toBeNull();
  withdrawals.noteRunning(rack(2), released + 50 * MINUTE);
  withdrawals.noteRunning(rack(2), released + 60 * MINUTE);
  expect(withdrawals.withdrawnAt("r1", released)).toBe(released + 50 * MINUTE);
  expect(withdrawals.withdrawnAt("r1", released + 55 * MINUTE)).toBeNull();
});

test("a release is not withdrawn while either dhcpd of the rack runs an older plan", () => {
  const withdrawals = new Withdrawals();
  withdrawals.noteCurrent("r1", 1, MINUTE);
  const [dhcpd] = rack(1).daemons;
  if (dhcpd === undefined) throw new Error("no daemon");
  const behind = { ...rack(1), daemons: [dhcpd, { ...dhcpd, name: "dhcpd6" as const, generation: 0 }] };
  withdrawals.noteRunning(behind, 2 * MINUTE);
  expect(withdrawals.withdrawnAt("r1", 0)).toBeNull();
  withdrawals.noteRunning({ ...behind, daemons: [dhcpd, { ...dhcpd, name: "dhcpd6" }] }, 3 * MINUTE);
  expect(withdrawals.withdrawnAt("r1", 0)).toBe(3 * MINUTE);
});

test("a release that changes nothing on the rack is withdrawn when the plan was looked at again", () => {
  const withdrawals = new Withdrawals();
  withdrawals.noteCurrent("r1", 1, 0);
  withdrawals.noteRunning(rack(1), 0);
  expect(withdrawals.withdrawnAt("r1", MINUTE)).toBeNull();
  withdrawals.noteCurrent("r1", 1, MINUTE + 5 * SECOND);
  expect(withdrawals.withdrawnAt("r1", MINUTE)).toBeNull();
  withdrawals.noteCurrent("r1", 1, MINUTE + 11 * SECOND);
  expect(withdrawals.withdrawnAt("r1", MINUTE)).toBe(MINUTE);
});

test("nothing is known of a rack that was never planned for, or after many generations of the oldest", () => {
  const withdrawals = new Withdrawals();
  expect(withdrawals.withdrawnAt("r1", 0)).toBeNull();
  for (let generation = 1; generation <= 100; generation++) {
    withdrawals.noteCurrent("r1", generation, generation * MINUTE);
    withdrawals.noteRunning(rack(generation), generation * MINUTE + SECOND);
  }
  expect(withdrawals.withdrawnAt("r1", 10 * MINUTE)).toBe(37 * MINUTE + SECOND);
  expect(withdrawals.withdrawnAt("r1", 98 * MINUTE)).toBe(99 * MINUTE + SECOND);
});
