import { ipPrefix, parseInterfaces, type HostInterface } from "@berth/core";
import { createFakeClock } from "@berth/host/fakes";
import { describe, expect, it } from "vitest";
import { createSettledInterfaces, HOLD_MS } from "./settled-interfaces.js";

function withAddresses(...addresses: string[]): readonly HostInterface[] {
  const lines = addresses.map((address) => `    inet ${address} scope global eth0\n`).join("");
  const parsed = parseInterfaces(
    `2: eth0: <BROADCAST,UP,LOWER_UP> mtu 1500 qdisc noqueue state UP\n    link/ether 02:00:5e:00:53:01 brd ff:ff:ff:ff:ff:ff\n${lines}`,
  );
  if (!parsed.ok) throw new Error("the test's own text is not readable");
  return parsed.value;
}

describe("settled interfaces", () => {
  const own = withAddresses("192.168.50.1/24");
  const bare = withAddresses();

  function setUp() {
    const clock = createFakeClock(0);
    const host = { seen: own as readonly HostInterface[] | null };
    const subnets = [{ id: 1, prefix: ipPrefix("192.168.50.0/24") }];
    return { clock, host, settled: createSettledInterfaces({ clock, seen: () => host.seen, subnets: () => subnets }) };
  }

  it("passes on what changes nothing for what is served at once", () => {
    const { host, settled } = setUp();
    expect(settled.current()).toBe(own);
    const more = withAddresses("192.168.50.1/24", "192.168.50.28/32");
    host.seen = more;
    expect(settled.current()).toBe(more);
    host.seen = own;
    expect(settled.current()).toBe(own);
  });

  it("gives an address that is served on time to come back", async () => {
    const { clock, host, settled } = setUp();
    settled.current();
    host.seen = bare;
    expect([settled.current(), settled.isHolding()]).toEqual([own, true]);
    await clock.advance(HOLD_MS - 1);
    expect(settled.current()).toBe(own);
    const back = withAddresses("192.168.50.1/24");
    host.seen = back;
    expect([settled.current() === back, settled.isHolding()]).toEqual([true, false]);
  });

  it("believes it in the end", async () => {
    const { clock, host, settled } = setUp();
    settled.current();
    host.seen = bare;
    settled.current();
    await clock.advance(HOLD_MS);
    expect([settled.current() === bare, settled.isHolding()]).toEqual([true, false]);
  });

  it("waits for nothing at the start", () => {
    const { host, settled } = setUp();
    host.seen = null;
    expect(settled.current()).toBeNull();
    host.seen = bare;
    expect(settled.current()).toBe(bare);
  });
});
