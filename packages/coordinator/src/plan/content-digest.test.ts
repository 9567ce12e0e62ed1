import { expect, test } from "vitest";
import { ContentDigests } from "./content-digest.js";

test("the same content has one digest however it is written and however often it is asked, another content has another", () => {
  const digests = new ContentDigests();
  const first = digests.of("r1", { a: 1, b: [2] });
  expect(digests.of("r1", { a: 1, b: [2] })).toBe(first);
  expect(digests.of("r1", { b: [2], a: 1 })).toBe(first);
  expect(digests.of("r1", { a: 1, b: [3] })).not.toBe(first);
  expect(digests.of("r2", { a: 1, b: [2] })).toBe(first);
  expect(new ContentDigests().of("r1", { b: [2], a: 1 })).toBe(first);
});

test("a long list that is the very one of the last time is not written again; one that is equal or not is", () => {
  const digests = new ContentDigests();
  const hosts = [{ name: "a" }];
  const first = digests.of("r1", { hosts, zones: [{ records: [] }] });
  expect(digests.of("r1", { hosts, zones: [{ records: [] }] })).toBe(first);
  expect(digests.of("r1", { hosts: [{ name: "a" }], zones: [{ records: [] }] })).toBe(first);
  expect(digests.of("r1", { hosts: [{ name: "b" }], zones: [{ records: [] }] })).not.toBe(first);
  expect(digests.of("r1", { hosts, zones: [{ records: [1] }] })).not.toBe(first);
  expect(digests.of("r1", { hosts, zones: [{ records: [] }] })).toBe(
    new ContentDigests().of("r1", { hosts, zones: [{ records: [] }] }),
  );
});
