import { expect, it } from "vitest";
import { leasesStatusText } from "./leases-status.js";

const WELL = {
  leases: 29,
  state: { kind: "following" },
  lastChangeAgeMs: 35_663.5,
  lagBytes: 0,
  pendingTail: false,
  skippedDeclarations: 0,
  watching: { kind: "events" },
} as const;

it("tells of a file that is well how old its news are, and nothing else", () => {
  expect(leasesStatusText(WELL)).toBe("29 in the file, following, last change 35 s ago");
  expect(leasesStatusText({ ...WELL, leases: 0, lastChangeAgeMs: null })).toBe("0 in the file, following");
});

it.each([
  [-3, "0 s"],
  [119_999, "119 s"],
  [120_000, "2 min"],
  [7_199_999, "119 min"],
  [7_200_000, "2 h"],
  [172_800_000, "2 days"],
])("writes %i ms as %s", (lastChangeAgeMs, text) => {
  expect(leasesStatusText({ ...WELL, lastChangeAgeMs })).toContain(`last change ${text} ago`);
});

it("tells what is not as usual", () => {
  const text = leasesStatusText({
    ...WELL,
    lagBytes: 512,
    pendingTail: true,
    skippedDeclarations: 2,
    watching: { kind: "polling", reason: "network", detail: "NFS" },
  });
  expect(text).toContain(", 512 octets not read yet, the last declaration is not finished, 2 declarations skipped");
  expect(text).toMatch(/, polling$/);
  expect(leasesStatusText({ ...WELL, skippedDeclarations: 1 })).toContain(", 1 declaration skipped");
});
