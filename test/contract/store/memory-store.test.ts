import { createMemoryStore, MemoryDisk } from "../../../packages/coordinator/src/store/memory-store.js";
import { storeContract } from "./store-contract.js";

storeContract("the fake store", () => {
  const disk = new MemoryDisk();
  return Promise.resolve({ open: () => Promise.resolve(createMemoryStore(disk)), discard: () => Promise.resolve() });
});
