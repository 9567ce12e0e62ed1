import {
  ipAddress,
  ipPrefix,
  parseHardwareAddress,
  type Allocation,
  type HardwareAddress,
  type Machine,
  type Subnet,
} from "@berth/core";

export function benchSubnet(id: number, prefix: string): Subnet {
  return {
    id,
    prefix: ipPrefix(prefix),
    site: "default",
    gateway: null,
    domain: `s${id}.bench.example`,
    mode: "static",
    window: null,
    enlistment: null,
    reserved: [],
    dns: null,
    ntp: null,
    leaseTime: 600,
    maxLeaseTime: 600,
    createdAt: 0,
  };
}

/** The machine and the allocation that an enrollment of its NIC would have made. */
export function benchMachine(
  number: number,
  subnetId: number,
  text: string,
): { readonly machine: Machine; readonly allocation: Allocation } {
  const id = `m-${number.toString(36).padStart(12, "0")}`;
  const nics = [benchNic(number)];
  const address = ipAddress(text);
  const name = `ip-${text.replaceAll(".", "-")}.s${subnetId}.bench.example`;
  return {
    machine: { id, name: null, state: "enrolled", nics, createdAt: 1_800_000_000_000 },
    allocation: {
      id: `a-${number.toString(36).padStart(12, "0")}`,
      kind: "machine",
      subnetId,
      address,
      machineId: id,
      nics,
      ownerKey: `machine/${id}/subnet/${subnetId}`,
      name,
      owners: [],
      delivery: "both",
      createdAt: 1_800_000_000_000,
    },
  };
}

function benchNic(number: number): HardwareAddress {
  const hex = (0x020000000000 + number).toString(16).padStart(12, "0");
  const nic = parseHardwareAddress(hex);
  if (nic === null) throw new Error(`no NIC: ${hex}`);
  return nic;
}
