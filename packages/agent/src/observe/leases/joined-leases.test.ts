import { ipAddress, type LeasePages, type LeaseReport } from "@berth/core";
import { describe, expect, it } from "vitest";
import { joinedLeases, leasesProblems, type ReportedLeases } from "./joined-leases.js";
import type { LeaseFollower, LeaseFollowerHealth } from "./model.js";

function pagesOf(...addresses: string[]): LeasePages {
  const leases = addresses.map((address) => ({ address: ipAddress(address) }) as LeaseReport);
  return { length: leases.length, slice: (from, to) => leases.slice(from, to) };
}

function file(kind: string, options: { served?: boolean; leases?: string[] }): ReportedLeases {
  const { served = false, leases } = options;
  const health = {
    identity: leases === undefined ? null : "1:2",
    state: { kind },
    problems: [{ code: kind, at: "", message: "" }],
  };
  const follower = { health: () => health as unknown as LeaseFollowerHealth, pages: () => pagesOf(...(leases ?? [])) };
  return { follower: follower as unknown as LeaseFollower, isServed: () => served };
}

const v4 = file("following", { served: true, leases: ["192.168.50.1", "192.168.50.2"] });
const v6 = file("following", { served: true, leases: ["fd50::1", "fd50::2"] });

describe("joinedLeases", () => {
  it("answers any page of both, in order", () => {
    const pages = joinedLeases([v4, v6]);
    const page = (from: number, to: number): string[] | undefined => pages?.slice(from, to).map(({ address }) => address);
    expect(pages?.length).toBe(4);
    expect(page(0, 4)).toEqual(["192.168.50.1", "192.168.50.2", "fd50::1", "fd50::2"]);
    expect([page(0, 2), page(1, 3), page(2, 3), page(3, 4)]).toEqual([
      ["192.168.50.1", "192.168.50.2"],
      ["192.168.50.2", "fd50::1"],
      ["fd50::1"],
      ["fd50::2"],
    ]);
  });

  it("takes a file that nobody is to write and that is not there for empty", () => {
    expect(joinedLeases([v4, file("lost", {})])?.length).toBe(2);
    expect(joinedLeases([file("missing", {}), v6])?.length).toBe(2);
  });

  it("knows nothing while one is not read, is wanted and missing, or there is none at all", () => {
    expect(joinedLeases([v4, file("starting", {})])).toBeNull();
    expect(joinedLeases([v4, file("unreadable", {})])).toBeNull();
    expect(joinedLeases([v4, file("lost", { served: true })])).toBeNull();
    expect(joinedLeases([file("lost", {}), file("lost", {})])).toBeNull();
  });

  it("keeps what was last known of a file that went away", () => {
    expect(joinedLeases([v4, file("lost", { served: true, leases: ["fd50::1"] })])?.length).toBe(3);
  });
});

describe("leasesProblems", () => {
  it("is silent of a file that nobody is to write and that was never there", () => {
    const lost = [file("lost", {}), file("lost", { served: true }), file("lost", { leases: [] }), file("unreadable", {})];
    expect(leasesProblems(lost).map(({ code }) => code)).toEqual(["lost", "lost", "unreadable"]);
  });
});
