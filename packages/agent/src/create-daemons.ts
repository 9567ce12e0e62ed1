import { randomInt } from "node:crypto";
import { join } from "node:path";
import { DhcpdWriter } from "@berth/core";
import { createBell, type Bell, type Clock, type Commands, type Files, type Log, type ServiceDriver } from "@berth/host";
import type { AgentPaths } from "./agent-paths.js";
import type { Attachment } from "./attachment.js";
import type { DhcpServer } from "./dhcp/dhcp-server.js";
import { createDhcpdServer, type DhcpdPorts } from "./dhcp/dhcpd-server.js";
import type { InterfaceObserver } from "./observe/interfaces/interface-observer.js";
import { openActivationHistory, type ActivationHistory } from "./reconcile/activation-history.js";
import { createDhcpReconciler } from "./reconcile/dhcp.js";
import { dhcpd6Goal, dhcpdGoal } from "./reconcile/dhcp-goal.js";
import { createEnlistmentLinks, type EnlistmentAddress, type EnlistmentLinks } from "./reconcile/enlistment.js";
import { openManagedConfig } from "./reconcile/managed-config.js";
import { createNamedReconciler } from "./reconcile/named.js";
import { createFileDigests } from "./reconcile/named-facts.js";
import { namedGoal } from "./reconcile/named-goal.js";
import type { Reconciler } from "./reconcile/reconciler.js";
import { ensureRndcKey } from "./reconcile/rndc-key.js";
import { rememberLast } from "./remember-last.js";

/** A daemon that the agent keeps right, and the bell that wakes its reconciler. */
export interface Daemon {
  readonly reconciler: Reconciler;
  readonly bell: Bell;
}

export interface DaemonParts {
  readonly paths: AgentPaths;
  readonly observer: InterfaceObserver;
  readonly attach: Attachment;
  readonly servers: readonly DhcpServer[];
  readonly driver: ServiceDriver;
  readonly ports: { readonly files: Files; readonly commands: Commands; readonly clock: Clock; readonly log: Log };
}

/** The DHCP servers of this rack: here, and only here, it is decided which program serves what. The leases of the first are reported. */
export function createDhcpServers(paths: AgentPaths, ports: DhcpdPorts): readonly [DhcpServer, ...DhcpServer[]] {
  // 10,000 hosts every two seconds would keep a rack's processor busy.
  const writing = { omapi: paths.omapi, writer: new DhcpdWriter() };
  const render: DhcpServer["render"] = rememberLast((desired, attached) => dhcpdGoal(desired, attached, writing));
  const render6: DhcpServer["render"] = rememberLast(dhcpd6Goal);
  return [
    createDhcpdServer({ family: 4, paths: paths.dhcpd, render }, ports),
    createDhcpdServer({ family: 6, paths: paths.dhcpd6, render: render6 }, ports),
  ];
}

/** The reconcilers of all daemons, in the order in which they are shown. */
export async function createDaemons(parts: DaemonParts): Promise<readonly Daemon[]> {
  const { attach, ports } = parts;
  const view = { desired: () => attach.desired(), attached: () => attach.now() };
  const enlistment = createEnlistment(parts);
  const dhcp = parts.servers.map(async (server) => {
    const { name, config: path, header } = server;
    const file = await openManagedConfig({ ...ports, digests: createFileDigests(ports.files), path, header });
    const history = await openHistory(parts, name);
    return createDhcpReconciler({ ...ports, ...view, server, file, history, enlistment: name === "dhcpd" ? enlistment : null });
  });
  return (await Promise.all([...dhcp, createNamed(parts)])).map((reconciler) => ({ reconciler, bell: createBell(ports.clock) }));
}

function openHistory({ paths, ports }: DaemonParts, name: string): Promise<ActivationHistory> {
  return openActivationHistory({ ...ports, path: join(paths.state, `${name}-activations.json`) });
}

function createEnlistment({ paths, observer, ports }: DaemonParts): EnlistmentLinks {
  const isPresent = ({ link, address, prefixLength }: EnlistmentAddress): boolean =>
    observer
      .current()
      ?.find(({ name }) => name === link)
      ?.addresses.some((there) => there.address === address && there.prefixLength === prefixLength) ?? false;
  return createEnlistmentLinks({ ...ports, stateDir: paths.state, isPresent });
}

async function createNamed(parts: DaemonParts): Promise<Reconciler> {
  const { paths, attach, driver, ports } = parts;
  await ensureRndcKey(ports.files, paths.named.key);
  const { port, controlPort } = paths.named;
  const options = { paths: paths.namedConf, port, controlPort };
  return createNamedReconciler({
    ...ports,
    driver,
    paths: paths.named,
    digests: createFileDigests(ports.files),
    served: { last: null },
    history: await openHistory(parts, "named"),
    queryId: () => randomInt(65_536),
    goal: () => namedGoal(attach.desired(), attach.now()?.local ?? null, options),
  });
}
