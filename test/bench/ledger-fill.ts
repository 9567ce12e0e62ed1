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
  const id = benchId("m", number);
  const nics = [benchNic(number)];
  const address = ipAddress(text);
  const name = `ip-${text.replaceAll(".", "-")}.s${subnetId}.bench.example`;
  return {
    machine: { id, name: null, state: "enrolled", nics, createdAt: 1_800_000_000_000 },
    allocation: {
      id: benchId("a", number),
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

/** In the form of the coordinator's own ids: nine digits of time, of which many share one, and seven of chance. */
function benchId(kind: string, number: number): string {
  const digits = (value: number, length: number): string => {
    let text = "";
    for (let rest = value; text.length < length; rest = Math.floor(rest / 32)) text = CROCKFORD.charAt(rest % 32) + text;
    return text;
  };
  // An odd factor goes through all seven digits without coming to one twice.
  return `${kind}-${digits(1_800_000_000_000 + Math.floor(number / 100), 9)}${digits((number * 5_201_227_711) % 2 ** 35, 7)}`;
}

const CROCKFORD = "0123456789abcdefghjkmnpqrstvwxyz";

function benchNic(number: number): HardwareAddress {
  const hex = (0x020000000000 + number).toString(16).padStart(12, "0");
  const nic = parseHardwareAddress(hex);
  if (nic === null) throw new Error(`no NIC: ${hex}`);
  return nic;
}
