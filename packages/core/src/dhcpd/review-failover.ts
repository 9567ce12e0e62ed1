import { addressFamily } from "../address/ip.js";
import type { Problem } from "../problem.js";
import type { DhcpdConfig, FailoverPeer } from "./config.js";

/** Reviews the pairs: each declared once, used, and with a partner that is somebody else. */
export function reviewFailovers({ failovers, sharedNetworks }: DhcpdConfig): Problem[] {
  const users = sharedNetworks.flatMap(({ subnets }) => subnets.filter(({ failover }) => failover !== null));
  const declared = new Set(failovers.map(({ name }) => name));
  const used = new Set(users.filter(({ pools }) => pools.length > 0).map(({ failover }) => failover));
  return [
    ...failovers.flatMap((peer) => reviewPeer(peer)),
    ...duplicates(failovers),
    ...failovers
      .filter(({ name }) => !used.has(name))
      .map(({ name }) => ({ code: "failover-unused", at: `failover peer ${name}`, message: "no pool uses it" })),
    ...users
      .filter(({ failover }) => failover !== null && !declared.has(failover))
      .map(({ prefix, failover }) => ({
        code: "failover-undefined",
        at: `subnet ${prefix}`,
        message: `its failover peer ${failover} is not declared`,
      })),
  ];
}

function reviewPeer(peer: FailoverPeer): Problem[] {
  const at = `failover peer ${peer.name}`;
  const problems: Problem[] = [];
  const add = (code: string, message: string): void => {
    problems.push({ code, at, message });
  };
  if (peer.address === peer.partner)
    add("failover-self", `its partner has its own address ${peer.address}: it would wait for itself`);
  for (const address of [peer.address, peer.partner])
    if (addressFamily(address) !== 4) add("failover-family", `${address} is not IPv4, and failover exists for DHCPv4 only`);
  if (peer.split < 0 || peer.split > 256) add("failover-split", `the split ${peer.split} is not between 0 and 256`);
  if (peer.mclt < 1) add("failover-mclt", "an mclt of less than a second lets no lease be given");
  return problems;
}

/** By name, and by partner: dhcpd tells connections apart by address alone, and rejects both peers of one. */
function duplicates(failovers: readonly FailoverPeer[]): Problem[] {
  const [names, partners] = [new Set<string>(), new Set<string>()];
  return failovers.flatMap(({ name, partner }): Problem[] => {
    const at = `failover peer ${name}`;
    const problems: Problem[] = names.has(name) ? [{ code: "failover-duplicate", at, message: "it is declared twice" }] : [];
    if (partners.has(partner)) {
      const message = `another peer has the partner ${partner} as well, and dhcpd would reject both`;
      problems.push({ code: "failover-partner-duplicate", at, message });
    }
    names.add(name);
    partners.add(partner);
    return problems;
  });
}
