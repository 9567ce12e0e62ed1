import { createFakeClock, type FakeClock } from "@berth/host/fakes";
import { beforeEach, expect, test } from "vitest";
import { CommitTeller } from "./commit-teller.js";

let clock: FakeClock;
let told: number[];
let teller: CommitTeller;

beforeEach(() => {
  clock = createFakeClock(0);
  told = [];
  teller = new CommitTeller(clock, (revision) => {
    told.push(revision);
    return Promise.reject(new Error("nobody hears it"));
  });
});

/** What a store does; answers whether the commit told of itself. */
function commit(revision: number): boolean {
  const isDue = teller.isDue();
  teller.committed(revision, isDue);
  return isDue;
}

test("a commit tells of itself, those right after it do not, and the last of them is told of soon", async () => {
  expect([1, 2, 3].map(commit)).toEqual([true, false, false]);
  await clock.advance(49);
  expect(told).toEqual([]);
  await clock.advance(1);
  expect([told, clock.sleepers]).toEqual([[3], 0]);
  await clock.advance(1000);
  expect([commit(4), told]).toEqual([true, [3]]);
});

test("among many commits one tells every so often, and none is told of twice", async () => {
  const itself: number[] = [];
  for (let revision = 1; revision <= 100; revision++) {
    if (commit(revision)) itself.push(revision);
    await clock.advance(10);
  }
  await clock.advance(1000);
  const all = [...itself, ...told].sort((a, b) => a - b);
  expect(new Set(all).size).toBe(all.length);
  expect(all.at(-1)).toBe(100);
  expect(all.length).toBeLessThan(30);
});

test("after the end nothing is told", async () => {
  commit(1);
  commit(2);
  teller.end();
  await clock.advance(1000);
  expect([told, clock.sleepers]).toEqual([[], 0]);
});
