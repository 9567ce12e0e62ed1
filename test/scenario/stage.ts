import { createLab, type Lab } from "../lab/lab.js";
import type { Link } from "../lab/link.js";
import type { Machine } from "../lab/machine.js";
import { Rack } from "../lab/berth-rack.js";
import { Region } from "../lab/berth-region.js";

/** The network that the scenario's rack serves. */
export const SUBNET = { prefix: "192.168.50.0/24", rack: "192.168.50.1", domain: "rack1.example" } as const;
/** Short leases: a machine asks again after half of it, so nobody has to wait long to see it move. */
export const ENLIST_LEASE_SECONDS = 30;
/** A slice of 32 addresses: few enough to be used up by strangers in a moment. */
const SLICE_LENGTH = 27;

/** A region, a rack and three machines, all real: namespaces, daemons, clients. */
export interface Stage {
  readonly lab: Lab;
  readonly region: Region;
  readonly rack: Rack;
  readonly machines: readonly [Machine, Machine, Machine];
  /** The wire between the rack and its machines. */
  readonly link: Link;
}

/** Says what is being done, before it is done. */
export type Tell = (line: string) => void;

export async function buildStage(lab: Lab, tell: Tell): Promise<Stage> {
  tell("namespaces: a region, a rack, three machines, and the links between them");
  const link = await lab.addLink("rack1");
  const region = new Region(await lab.addRegion("region"), "10.240.1.10");
  const rackHost = await lab.addRack("rack1");
  await rackHost.connect(link, { addresses: [`${SUBNET.rack}/24`] });
  const rack = new Rack(rackHost);
  const machines = [
    await lab.addMachine("m1", link),
    await lab.addMachine("m2", link),
    await lab.addMachine("m3", link),
  ] as const;
  tell("the coordinator starts, with SQLite in its data folder and a certificate authority of its own");
  await region.start();
  tell("the rack joins with one line and its agent starts");
  await rack.join(region);
  await rack.start();
  return { lab, region, rack, machines: [machines[0], machines[1], machines[2]], link };
}

/** The argv, after `berth`, that declares the scenario's subnet. */
export const DECLARE_SUBNET: readonly string[] = [
  ...["subnet", "create", SUBNET.prefix, "--gateway", SUBNET.rack, "--domain", SUBNET.domain],
  ...["--mode", "link-local", "--slice-length", String(SLICE_LENGTH), "--enlist-lease", String(ENLIST_LEASE_SECONDS)],
];

export async function declareSubnet({ region, rack }: Stage, tell: Tell): Promise<void> {
  tell(`berth ${DECLARE_SUBNET.join(" ")}`);
  await region.berthJson(...DECLARE_SUBNET);
  tell("dhcpd and named start on the rack");
  await rack.waitUntilServing();
}

export async function createStage(name: string, tell: Tell): Promise<Stage> {
  const lab = await createLab({ name });
  try {
    const stage = await buildStage(lab, tell);
    await declareSubnet(stage, tell);
    return stage;
  } catch (error) {
    await lab.close();
    throw error;
  }
}
