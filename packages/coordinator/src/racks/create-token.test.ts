import { createFakeClock } from "@berth/host/fakes";
import { expect, it } from "vitest";
import { rackOf } from "../../../../test/fixtures/alloc/build.js";
import { createMemoryStore } from "../store/memory-store.js";
import { createToken, type TokenOrder } from "./create-token.js";

const NOON = Date.UTC(2026, 10, 30, 12);

function desk(connected = true) {
  const store = createMemoryStore();
  const racks = [{ ...rackOf("r1", []), connected, lastSeenAt: connected ? NOON - 1000 : null }];
  const ports = { tokens: store.tokens, audit: store.audit, racks: () => racks, clock: createFakeClock(NOON) };
  return { store, ask: (order: TokenOrder) => createToken(ports, order, "token admin") };
}

it("a token for a known rack is refused with what is known of it, and none is made", async () => {
  const { store, ask } = desk();
  expect(await ask({ rack: "r1" })).toMatchObject({
    problems: [
      {
        code: "rack-known",
        message: "rack r1 is known and connected, last seen at 2026-11-30T11:59:59.000Z: its host would lose its place",
        remedy: expect.stringContaining("--replace") as string,
      },
    ],
  });
  expect(await desk(false).ask({ rack: "r1" })).toMatchObject({
    problems: [{ message: expect.stringContaining("not connected, not seen since this coordinator runs") as string }],
  });
  expect([await store.tokens.list(), await store.audit.list(0, 9)]).toEqual([[], []]);
});

it("one that replaces its host is made when that is said, and written down", async () => {
  const { store, ask } = desk();
  expect(await ask({ rack: "r1", replace: true })).toMatchObject({ ok: true });
  expect(await store.tokens.list()).toMatchObject([{ rackName: "r1", replaces: true }]);
  expect(await store.audit.list(0, 9)).toMatchObject([
    { actor: "token admin", action: "create-token", subject: "r1", detail: { replace: true } },
  ]);
});

it("nothing is replaced that is not there; other names need no word", async () => {
  const { store, ask } = desk();
  for (const order of [{ rack: "r2", replace: true }, { replace: true }])
    expect(await ask(order)).toMatchObject({ problems: [{ code: "replace-without-rack" }] });
  expect(await ask({ rack: "r2" })).toMatchObject({ ok: true });
  expect(await ask({})).toMatchObject({ ok: true });
  expect((await store.tokens.list()).map(({ replaces }) => replaces)).toEqual([false, false]);
});
