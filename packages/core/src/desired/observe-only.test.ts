import { describe, expect, it } from "vitest";
import { subnetOf } from "../../../../test/fixtures/dhcpd/subnet.js";
import { compileDhcpd } from "../dhcpd/compile.js";
import { ipAddress } from "../address/ip.js";
import { ipPrefix } from "../address/prefix.js";
import { checkObserved, observeOnly } from "./observe-only.js";
import type { DesiredState } from "./schema.js";

describe("a rack that only observes", () => {
  const state: DesiredState = {
    ...{ format: 1, rack: "r", generation: 1, zones: [], queryFrom: [], forwarders: [] },
    subnets: [
      subnetOf({ mode: "static" }),
      subnetOf({ id: 2, prefix: ipPrefix("192.168.51.0/24"), gateway: null, mode: "observe" }),
    ],
  };

  it("serves nothing of what the region wants, and says so", () => {
    const local = { links: [{ name: "eth0", subnetId: 1, address: ipAddress("192.168.50.1") }] };
    const compiled = compileDhcpd(observeOnly(state), local);
    expect(compiled.ok && compiled.value.interfaces).toEqual([]);
    expect(checkObserved(state.subnets)).toMatchObject({
      code: "observes-only",
      message: expect.stringContaining("192.168.50.0/24") as string,
    });
    expect(checkObserved(observeOnly(state).subnets)).toBeNull();
  });
});
