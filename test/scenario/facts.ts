import { equal, ok } from "node:assert/strict";
import type { AllocationView, EnrolledView, MachineView, Page } from "@berth/core";
import type { Machine } from "../lab/machine.js";
import { strangerMac } from "../lab/raw-dhcp-client.js";
import { waitUntil } from "../lab/wait-until.js";
import { ENLIST_LEASE_SECONDS, SUBNET, type Stage } from "./stage.js";

/** One thing that Berth promises, as something to watch. */
export interface Fact {
  readonly title: string;
  /** What an operator types to see it. */
  readonly command: (stage: Stage, story: Story) => string;
  /** Makes it happen and looks; answers what was seen, or throws. */
  readonly observe: (stage: Stage, story: Story) => Promise<string>;
}

/** What later facts need of earlier ones. */
export interface Story {
  /** Names of the subnet that resolved before anybody was enrolled, with their addresses. */
  readonly resolvedBefore: Map<string, string>;
  address: string;
  name: string;
  /** What the strangers were given. */
  strangers: string[];
  /** The region's books and the rack's generation, before the coordinator was killed. */
  booksBefore: string;
}

export function newStory(): Story {
  return { resolvedBefore: new Map(), address: "", name: "", strangers: [], booksBefore: "" };
}

const REBOOTS = 3;
const STRANGERS = 60;

export const FACTS: readonly Fact[] = [
  {
    title: "A machine boots and gets an enlistment address",
    command: ({ machines }) => `ip -n ${machines[0].namespace} -4 address show dev eth0`,
    async observe({ machines }) {
      const client = await machines[0].dhclient();
      const bound = await client.waitForAddress();
      ok(bound.address?.startsWith("169.254."), `not an enlistment address: ${bound.address}`);
      return `m1 (${mac(machines[0])}) has ${bound.address}, outside ${SUBNET.prefix}`;
    },
  },
  {
    title: "It shows up in the list of machines",
    command: () => "berth machine list",
    async observe(stage) {
      const seen = await waitUntil(() => findMachine(stage, mac(stage.machines[0])), { describe: "m1 in `berth machine list`" });
      return `${seen?.nics.join(" ")} is '${seen?.state}' on ${seen?.rack}`;
    },
  },
  {
    title: "Every address of the subnet has a name that resolves, before any machine has it",
    command: ({ rack }) => `ip netns exec ${rack.host.namespace} dig +short @${SUBNET.rack} ip-192-168-50-77.${SUBNET.domain}`,
    async observe({ machines }, story) {
      const names = Array.from({ length: 254 }, (_, i) => `ip-192-168-50-${i + 1}.${SUBNET.domain}`);
      const [server = ""] = machines[0].client().bound()?.nameServers ?? [];
      const answers = await machines[0].queryAll(
        names.map((name) => ({ name, type: "A" })),
        server,
      );
      answers.forEach(
        ({ answers: [record] }, i) => record !== undefined && story.resolvedBefore.set(names[i] ?? "", record.value),
      );
      equal(story.resolvedBefore.size, names.length, "names that resolve");
      return `${names.length} of ${names.length} names resolve, asked by m1 at ${server}, the server that its lease names`;
    },
  },
  {
    title: "Enrolling gives it a static address whose name already resolved before the call",
    command: ({ machines }) => `berth machine enroll ${mac(machines[0])}`,
    async observe(stage, story) {
      const { allocation } = await stage.region.berthJson<EnrolledView>("machine", "enroll", mac(stage.machines[0]));
      story.address = allocation.address;
      story.name = allocation.name;
      equal(story.resolvedBefore.get(allocation.name), allocation.address, `${allocation.name} before the call`);
      return `m1 is promised ${allocation.address}; ${allocation.name} answered with it before the call`;
    },
  },
  {
    title: "At its next contact the machine moves there by itself",
    command: ({ machines }) => `ip -n ${machines[0].namespace} -4 address show dev eth0`,
    async observe({ machines }, story) {
      const deadlineMs = ENLIST_LEASE_SECONDS * 2_000;
      const moved = await machines[0].client().waitForAddress({ address: story.address, deadlineMs });
      await waitUntil(() => machines[0].address(), { describe: "m1 uses it", until: (address) => address === story.address });
      return `m1 renewed, was refused its old address and now has ${moved.address}`;
    },
  },
  {
    title: "It reboots three times and keeps its address",
    command: ({ machines }) => `ip -n ${machines[0].namespace} -4 address show dev eth0`,
    async observe({ machines }, story) {
      for (let i = 0; i < REBOOTS; i++) await rebootAndExpect(machines[0], story.address, i === 0 ? "wipe" : "keep");
      return `${REBOOTS} of ${REBOOTS} boots ended at ${story.address}`;
    },
  },
  {
    title: "Strangers use the pool up, and no promised address is given away",
    command: () => "berth lease list --state active",
    observe: exhaustPool,
  },
  {
    title: "The coordinator is killed; the machine reboots, keeps its address, and its name still resolves",
    command: ({ rack }, { name }) => `ip netns exec ${rack.host.namespace} dig +short @${SUBNET.rack} ${name}`,
    async observe({ machines, region, rack }, story) {
      story.booksBefore = await books({ region, rack });
      await region.stop("SIGKILL");
      const { status } = await region.berth("machine", "list");
      equal(status, 3, "exit status of berth while no coordinator runs");
      await rebootAndExpect(machines[0], story.address, "keep");
      const { answers } = await machines[0].query(story.name, "A", SUBNET.rack);
      equal(answers[0]?.value, story.address, story.name);
      return `with no coordinator: m1 booted at ${story.address}, ${story.name} resolves to it`;
    },
  },
  {
    title: "The coordinator returns and nothing changed",
    command: () => "berth allocation list",
    async observe({ region, rack, machines }, story) {
      await region.start();
      await waitUntil(() => region.berthJson<Page<{ connected: boolean; converged: boolean }>>("rack", "list"), {
        describe: "the rack is connected again",
        deadlineMs: 30_000,
        until: ({ items }) => items.length === 1 && items.every(({ connected, converged }) => connected && converged),
      });
      equal(await books({ region, rack }), story.booksBefore, "allocations, machines and the rack's generation");
      equal(await machines[0].address(), story.address, "m1's address");
      return "the same allocations, the same machines, the same generation on the rack";
    },
  },
];

export function mac(machine: Machine): string {
  return machine.port().mac;
}

async function findMachine({ region }: Pick<Stage, "region">, nic: string): Promise<MachineView | null> {
  const { items } = await region.berthJson<Page<MachineView>>("machine", "list");
  return items.find(({ nics }) => nics.includes(nic)) ?? null;
}

async function rebootAndExpect(machine: Machine, address: string, leaseFile: "keep" | "wipe"): Promise<void> {
  const client = await machine.reboot({ leaseFile });
  const bound = await client.waitForAddress();
  equal(bound.address, address, `address of ${machine.name} after a reboot`);
}

/** Many more strangers than the pool has addresses, from beside m3; while they hold it, m2 is enrolled and boots. */
async function exhaustPool({ machines, region, rack }: Stage, story: Story): Promise<string> {
  const { allocation } = await region.berthJson<EnrolledView>("machine", "enroll", mac(machines[1]), "--name", "web1");
  await rack.waitUntilServing();
  const crowd = await machines[2].rawDhcp();
  try {
    const exchanges = await Promise.all(
      Array.from({ length: STRANGERS }, (_, i) => crowd.dora({ mac: strangerMac(i) }, { attempts: 4, waitMs: 1_500 })),
    );
    story.strangers = exchanges.flatMap(({ address }) => (address === null ? [] : [address]));
    const unanswered = exchanges.length - story.strangers.length;
    ok(unanswered > 0, "the pool is larger than the crowd");
    equal(new Set(story.strangers).size, story.strangers.length, "addresses given to strangers, each once");
    const promised = new Set([story.address, allocation.address]);
    ok(
      !story.strangers.some((address) => promised.has(address) || address.startsWith("192.168.50.")),
      "a stranger got an address of the subnet",
    );
    const client = await machines[1].dhclient();
    const bound = await client.waitForAddress({ address: allocation.address });
    await rebootAndExpect(machines[0], story.address, "wipe");
    return `${story.strangers.length} of ${STRANGERS} strangers got an enlistment address, ${unanswered} got nothing; m2 booted into the full rack at its own ${bound.address}, m1 at ${story.address}`;
  } finally {
    await crowd.close();
  }
}

/** What must not change while the coordinator is away, as one text. */
async function books({ region, rack }: Pick<Stage, "region" | "rack">): Promise<string> {
  const { items: allocations } = await region.berthJson<Page<AllocationView>>("allocation", "list");
  const machines = (await region.berthJson<Page<MachineView>>("machine", "list")).items.filter(({ id }) => id !== null);
  const promises = machines.map(({ id, state, name, nics, addresses }) => ({ id, state, name, nics, addresses }));
  return JSON.stringify({ allocations, promises, generation: (await rack.status())?.accepted });
}
