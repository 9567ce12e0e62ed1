import {
  ipAddress,
  RackIndex,
  RackLeases,
  type HardwareAddress,
  type LeaseReport,
  type RackFinder,
  type RackView,
} from "@berth/core";
import { interfaceOf } from "../fixtures/alloc/build.js";

const ADDRESSES = 8;
const LEASES = 20;

/** A region of so many racks with eight addresses and twenty leases each, none of them in a subnet that a benchmark gives from. */
export function benchRacks(count: number): RackFinder {
  const views = new Map<string, RackView>();
  const index = new RackIndex({ views: () => [...views.values()], view: (id) => views.get(id) ?? null });
  for (let number = 0; number < count; number++) {
    const view = benchRack(number);
    views.set(view.id, view);
    index.put(view.id, view);
  }
  return index;
}

function benchRack(number: number): RackView & { readonly leases: RackLeases } {
  const network = `${number >> 8}.${number & 255}`;
  const own = Array.from({ length: ADDRESSES }, (_, at) => `172.${network}.${at + 1}/24`);
  const leases = Array.from({ length: LEASES }, (_, at): LeaseReport => {
    const state = { state: "active", inUse: true, allocatable: false, dnsLabel: null, starts: 0, ends: 4_000_000_000 } as const;
    return { ...state, address: ipAddress(`172.${network}.${at + 101}`), hardwareAddress: benchNic(number, at) };
  });
  const reported = { interfaces: [interfaceOf("eth0", ...own)], interfacesAt: 0, leases: RackLeases.from(leases) };
  const told = { accepted: 0, daemons: [], problems: [], connected: true, joinedAt: 0, lastSeenAt: 0 };
  return { id: `r-${number}`, name: `rack${number}`, site: "default", ...told, ...reported };
}

function benchNic(rack: number, lease: number): HardwareAddress {
  const hex = (octet: number): string => octet.toString(16).padStart(2, "0");
  return `0a:00:00:${hex(rack >> 8)}:${hex(rack & 255)}:${hex(lease)}` as HardwareAddress;
}
