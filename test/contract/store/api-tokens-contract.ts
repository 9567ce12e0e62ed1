import { expect, test } from "vitest";
import type { ApiTokenRecord } from "../../../packages/coordinator/src/store/api-token-store.js";
import type { StoreUnderTest } from "./store-contract.js";

const ci: ApiTokenRecord = {
  id: "t-1",
  name: "ci",
  role: "operate",
  digest: "d1",
  createdAt: 5,
  createdBy: "token admin",
  expiresAt: null,
};
const alarm: ApiTokenRecord = { ...ci, id: "t-2", name: "alarm", role: "read", digest: "d2", expiresAt: 1_800_000_000_000 };

/** The promises of every engine and the fake about tokens of the API. */
export function apiTokensContract(name: string, underTest: () => Promise<StoreUnderTest>): void {
  test(`${name} keeps API tokens by name, each name and digest once`, async () => {
    const engine = await underTest();
    let store = await engine.open();
    await store.apiTokens.add(ci);
    await store.apiTokens.add(alarm);
    for (const same of [
      { ...alarm, id: "t-3", digest: "d3" },
      { ...alarm, id: "t-3", name: "third" },
    ])
      await expect(store.apiTokens.add(same)).rejects.toMatchObject({ code: "store-conflict" });
    await store.close();
    store = await engine.open();
    expect(await store.apiTokens.list()).toEqual([alarm, ci]);
    await store.apiTokens.remove("t-2");
    await store.apiTokens.remove("t-2");
    expect(await store.apiTokens.list()).toEqual([ci]);
    await store.close();
    await engine.discard();
  });
}
