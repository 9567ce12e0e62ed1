import { describe, expect, it } from "vitest";
import type { HardwareAddress } from "../address/hardware.js";
import type { IpAddress } from "../address/ip.js";
import { RackLeases, leasesOfNic } from "./rack-leases.js";
import type { LeaseReport } from "./messages.js";

const NICS = ["02:00:00:00:00:01", "02:00:00:00:00:02", "02:00:00:00:00:03", null] as (HardwareAddress | null)[];
const ADDRESSES = Array.from({ length: 6 }, (_, i) => `10.0.0.${i}` as IpAddress);

describe("the leases of a rack by NIC", () => {
  it("are those that a look through all of them finds, whatever came and went", () => {
    const table = new RackLeases();
    const plain = new Map<IpAddress, LeaseReport>();
    const followed: string[] = [];
    const follow = (key: string, isThere: boolean): void => {
      if (isThere) followed.push(key);
      else followed.splice(followed.indexOf(key), 1);
    };
    table.watch({ address: follow, nic: follow });
    let seed = 7;
    const draw = (below: number): number => {
      seed = (seed * 1103515245 + 12345) % 2147483648;
      return Math.floor((seed / 2147483648) * below);
    };
    for (let step = 0; step < 3000; step++) {
      const address = ADDRESSES[draw(ADDRESSES.length)] ?? ("10.0.0.0" as IpAddress);
      const lease = { address, hardwareAddress: NICS[draw(NICS.length)] ?? null, starts: step } as LeaseReport;
      const what = draw(200);
      for (const map of [table, plain]) {
        if (what === 0) map.clear();
        else if (what < 70) map.delete(address);
        else map.set(address, lease);
      }
      expect([...table]).toEqual([...plain]);
      for (const nic of NICS) if (nic !== null) expect(sorted(leasesOfNic(table, nic))).toEqual(sorted(leasesOfNic(plain, nic)));
      const here = new Set([...plain.values()].flatMap(({ hardwareAddress }) => hardwareAddress ?? []));
      expect(followed.toSorted()).toEqual([...here, ...plain.keys()].sort());
    }
  });

  it("are told to whoever follows from now on, and that they went to whoever does no more", () => {
    const table = RackLeases.from([{ address: ADDRESSES[0], hardwareAddress: NICS[0] } as LeaseReport]);
    const heard: string[] = [];
    const hear =
      (who: string) =>
      (key: string, isThere: boolean): void =>
        void heard.push(`${who}: ${key} ${isThere ? "came" : "left"}`);
    table.watch({ address: hear("first"), nic: hear("first") });
    table.watch({ address: hear("then"), nic: hear("then") });
    const [address, nic] = [String(ADDRESSES[0]), String(NICS[0])];
    const [came, left] = [
      (who: string) => [address, nic].map((key) => `${who}: ${key} came`),
      [address, nic].map((key) => `first: ${key} left`),
    ];
    expect(heard).toEqual([...came("first"), ...left, ...came("then")]);
  });

  it("are there at once in a table made of a list", () => {
    const lease = { address: ADDRESSES[0], hardwareAddress: NICS[0] } as LeaseReport;
    expect(RackLeases.from([lease]).ofNic("02:00:00:00:00:01" as HardwareAddress)).toEqual([lease]);
  });
});

function sorted(leases: readonly LeaseReport[]): LeaseReport[] {
  return leases.toSorted((a, b) => (a.address < b.address ? -1 : 1));
}
