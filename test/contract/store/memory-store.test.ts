import { createMemoryStore, MemoryDisk } from "../../../packages/coordinator/src/store/memory-store.js";
import { apiTokensContract } from "./api-tokens-contract.js";
import { namesContract } from "./names-contract.js";
import { plansContract } from "./plans-contract.js";
import { wireContract } from "./wire-contract.js";
import { storeContract, type StoreUnderTest } from "./store-contract.js";

function fake(): Promise<StoreUnderTest> {
  const disk = new MemoryDisk();
  return Promise.resolve({ open: () => Promise.resolve(createMemoryStore(disk)), discard: () => Promise.resolve() });
}

storeContract("the fake store", fake);
namesContract("the fake store", fake);
plansContract("the fake store", fake);
apiTokensContract("the fake store", fake);
wireContract("the fake store", fake);
