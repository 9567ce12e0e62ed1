import { EMPTY_LEDGER, LedgerState, type HardwareAddress, type LedgerChange } from "@berth/core";
import { EnvironmentError, silentLog, systemClock } from "@berth/host";
import { expect, test } from "vitest";
import type { CommitContent, LedgerNews, LedgerStore } from "../store/store.js";
import type { Ledger } from "./ledger.js";
import { openLedger } from "./open-ledger.js";

type Outcome = "commits" | "fails-before" | "fails-after";

/** Commits that several stores share, in the memory of this process; each store begins where the others are. */
class Shared {
  readonly commits: (readonly LedgerChange[])[] = [];
  /** How each commit was made. */
  readonly ways: string[] = [];
  inTurn: Outcome = "commits";
  /** What a commit on its way waits for. */
  answers: Promise<void> = Promise.resolve();

  store(): LedgerStore {
    const state = new LedgerState(EMPTY_LEDGER);
    for (const change of this.commits.flat()) state.apply(change);
    let known = this.commits.length;
    const news = (): LedgerNews | null => {
      const changes = this.commits.slice(known).flat();
      if (known === this.commits.length) return null;
      known = this.commits.length;
      return { revision: known, changes, isAll: true };
    };
    const add = ({ changes }: CommitContent, way: string): number => {
      this.ways.push(way);
      this.commits.push(changes);
      return (known = this.commits.length);
    };
    return {
      load: () => Promise.reject(new Error("not asked for")),
      loadState: () => Promise.resolve({ revision: known, state }),
      commit: async (changes, audit) => {
        this.ways.push("sent");
        await this.answers;
        if (known !== this.commits.length) throw new EnvironmentError("store-behind", "test", "another was first");
        return add({ changes, audit }, "alone");
      },
      shared: {
        news: () => Promise.resolve(news()),
        watch: () => Promise.resolve(),
        inTurn: async (decide) => {
          await Promise.resolve();
          if (this.inTurn === "fails-before") throw new EnvironmentError("store-unreachable", "test", "no server");
          const content = decide(news());
          if (this.inTurn === "fails-after") throw new EnvironmentError("store-unreachable", "test", "no server");
          return content.changes.length === 0 ? null : add(content, "in turn");
        },
      },
    };
  }

  open(): Promise<Ledger> {
    return openLedger({ clock: systemClock, log: silentLog, store: { ledger: this.store() }, racks: () => [] });
  }
}

const nic = (number: number): HardwareAddress => `02:00:00:00:00:${number.toString(16).padStart(2, "0")}` as HardwareAddress;
const enroll = (ledger: Ledger, number: number): ReturnType<Ledger["enroll"]> =>
  ledger.enroll({ nics: [nic(number)], subnet: "1" });
const addresses = (ledger: Ledger): readonly string[] => ledger.allocations().map(({ address }) => address);

/** Two on one ledger, of which the second has missed a commit of the first. */
async function two(): Promise<{ shared: Shared; first: Ledger; second: Ledger }> {
  const shared = new Shared();
  const first = await shared.open();
  await first.createSubnet({ prefix: "10.0.0.0/24", domain: "example.com", mode: "static" });
  const second = await shared.open();
  await enroll(first, 1);
  shared.ways.length = 0;
  return { shared, first, second };
}

test("who comes too late is decided anew in turn, on what the others did", async () => {
  const { shared, second } = await two();
  expect(await enroll(second, 2)).toMatchObject({ ok: true, value: { allocation: { address: "10.0.0.2" } } });
  expect(addresses(second)).toEqual(["10.0.0.1", "10.0.0.2"]);
  expect([shared.ways, second.revision]).toEqual([["sent", "in turn"], 3]);
});

test("a request that changes nothing is answered in turn by what the others did, and commits nothing", async () => {
  const { shared, second } = await two();
  expect(await enroll(second, 1)).toMatchObject({ ok: true, value: { created: false, allocation: { address: "10.0.0.1" } } });
  expect(shared.ways).toEqual(["sent"]);
});

test("commits are made in turn while others commit too, and alone again when they have not for a while", async () => {
  const { shared, first, second } = await two();
  for (let step = 2; step < 20; step += 2) {
    await enroll(second, step);
    await enroll(first, step + 1);
  }
  expect(shared.ways.filter((way) => way === "alone")).toEqual([]);
  for (let step = 20; step < 40; step++) await enroll(second, step);
  expect([shared.ways.at(-1), shared.ways.filter((way) => way === "alone").length < 10]).toEqual(["alone", true]);
});

test("a turn that does not come is told to all who wait for it, one that fails to those who were decided in it", async () => {
  const { shared, second } = await two();
  shared.inTurn = "fails-before";
  const before = { code: "store-unreachable" };
  await expect(Promise.all([enroll(second, 2), enroll(second, 3)])).rejects.toMatchObject(before);
  shared.inTurn = "fails-after";
  await expect(enroll(second, 4)).rejects.toMatchObject(before);
  expect(addresses(second)).toEqual(["10.0.0.1"]);
  shared.inTurn = "commits";
  expect(await enroll(second, 5)).toMatchObject({ ok: true, value: { allocation: { address: "10.0.0.2" } } });
});

test("the commit of those who came meanwhile goes on its way before those of the last one are told", async () => {
  const shared = new Shared();
  const ledger = await shared.open();
  await ledger.createSubnet({ prefix: "10.0.0.0/24", domain: "example.com", mode: "static" });
  shared.ways.length = 0;
  let letGo: () => void = () => undefined;
  shared.answers = new Promise((resolve) => (letGo = resolve));
  const told = (number: number): Promise<unknown> => enroll(ledger, number).then(() => shared.ways.push(`told ${number}`));
  const first = told(1);
  await expect.poll(() => shared.ways).toEqual(["sent"]);
  const others = [told(2), told(3)];
  letGo();
  await Promise.all([first, ...others]);
  expect(shared.ways.filter((way) => way === "sent")).toHaveLength(2);
  expect(shared.ways.indexOf("told 1")).toBeGreaterThan(shared.ways.lastIndexOf("sent"));
});
