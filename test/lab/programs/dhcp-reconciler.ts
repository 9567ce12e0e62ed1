// For the tests of the DHCP reconciler: the reconciler with real files, commands and daemon on a host of the lab, and a desired state from a file.
// Prints its status, history and number of calls as a JSON line at every change. With `killAt` it kills itself before its Nth call of a port.
import { randomInt } from "node:crypto";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { systemClock, systemCommands, systemFiles, createSupervisedDriver, silentLog } from "@berth/host";
import { ipAddress, type DesiredState } from "@berth/core";
import { createDhcpdServer } from "../../../packages/agent/dist/dhcp/dhcpd-server.js";
import { dhcpdPaths } from "../../../packages/agent/dist/agent-paths.js";
import { openActivationHistory } from "../../../packages/agent/dist/reconcile/activation-history.js";
import { createDhcpReconciler } from "../../../packages/agent/dist/reconcile/dhcp.js";
import { dhcpdGoal } from "../../../packages/agent/dist/reconcile/dhcp-goal.js";
import { openManagedConfig } from "../../../packages/agent/dist/reconcile/managed-config.js";
import { createFileDigests } from "../../../packages/agent/dist/reconcile/named-facts.js";

interface Task {
  readonly state: string;
  readonly program: string;
  /** File with the subnets that are desired; read again at every pass. */
  readonly desired: string;
  readonly address: string;
  /** Ends when everything is done, or failed and waits; otherwise it runs until it is ended. */
  readonly once?: boolean;
  readonly killAt?: number;
  /** The same for what it does before. Calls are then counted from the first write after that. */
  readonly first?: string;
}

const task = JSON.parse(process.argv[2] ?? "") as Task;
let calls = 0;
let desired = task.first ?? task.desired;
let isCounting = task.first === undefined;

/** Every call counts; the one that is named never happens. */
function counted<T extends object>(port: T): T {
  return new Proxy(port, {
    get(target, key) {
      const member = Reflect.get(target, key) as unknown;
      if (typeof member !== "function") return member;
      return (...args: unknown[]): unknown => {
        isCounting ||= desired === task.desired && key === "write";
        if (isCounting && ++calls === task.killAt) process.kill(process.pid, "SIGKILL");
        return (member as (...values: unknown[]) => unknown).apply(target, args);
      };
    },
  });
}

const paths = dhcpdPaths({ state: task.state, dhcpd: { program: task.program, leases: null } }, 4);
const files = counted(systemFiles);
const ports = { files, commands: counted(systemCommands), clock: systemClock, log: silentLog };
const driver = counted(createSupervisedDriver(task.state, systemClock));
await systemFiles.ensureDirectory(dirname(paths.config));
const server = createDhcpdServer(
  { family: 4, paths, render: dhcpdGoal },
  { ...ports, driver, transactionId: () => randomInt(2 ** 32) },
);
const index = Number(readFileSync("/sys/class/net/eth0/ifindex", "utf8"));
const known = { parent: null, kind: null, vlanId: null, hardwareAddress: null, permanentAddress: null, mtu: null };
const eth0 = { name: "eth0", index, flags: ["UP", "LOWER_UP"], addresses: [], ...known };

let read = { text: "", state: null as DesiredState | null, attached: null as ReturnType<typeof attach> | null };
function attach(state: DesiredState) {
  const links = state.subnets.map(({ id }) => ({ name: "eth0", subnetId: id, address: ipAddress(task.address) }));
  return { local: { links }, interfaces: [eth0] };
}
function newest(): typeof read {
  const text = readFileSync(desired, "utf8");
  if (text === read.text) return read;
  const state = JSON.parse(text) as DesiredState;
  read = { text, state, attached: attach(state) };
  return read;
}

const digests = createFileDigests(files);
const reconciler = createDhcpReconciler({
  ...ports,
  server,
  file: await openManagedConfig({ ...ports, digests, path: paths.config, header: server.header }),
  history: await openActivationHistory({ ...ports, path: join(task.state, "dhcpd-activations.json") }),
  enlistment: null,
  desired: () => newest().state,
  attached: () => newest().attached,
});

let told = "";
for (;;) {
  const ms = await reconciler.pass();
  const status = reconciler.status();
  const line = JSON.stringify({ status, activations: reconciler.activations() });
  if (line !== told) process.stdout.write(`${JSON.stringify({ ...(JSON.parse(line) as object), calls })}\n`);
  told = line;
  if (task.once === true && ms > 0 && status.state !== "converging") {
    if (desired === task.desired) break;
    desired = task.desired;
    continue;
  }
  await systemClock.sleep(Math.min(ms, 100));
}
