import { expect, it } from "vitest";
import { ipAddress } from "../address/ip.js";
import { ipPrefix } from "../address/prefix.js";
import { QUESTION_HARDWARE_ADDRESS } from "../dhcp-packet/question-hardware-address.js";
import type { PoolUse } from "./pool-use.js";
import { noteDhcpdLog, unservedProblems, type UnservedClient } from "./unserved-clients.js";

const MINUTE = 60_000;
const NOW = Date.parse("2026-11-30T12:00:00Z");
const MAC = "02:00:00:00:00:01";
const PLAIN = `DHCPDISCOVER from ${MAC} via eth0`;
const TURNED_AWAY = `${PLAIN}: network eth0: no free leases`;

function use(newestGrant: number | null, interfaceName: string | null = "eth0"): PoolUse {
  const range = { first: ipAddress("10.1.0.10"), last: ipAddress("10.1.0.11") };
  const pool = { subnetId: 1, prefix: ipPrefix("10.1.0.0/24"), interfaceName, ranges: [range] };
  return { pool, total: 2n, used: 2, newestGrant };
}

/** The same lines in two rounds, a minute apart. */
function asked(...lines: string[]): readonly UnservedClient[] {
  return noteDhcpdLog(noteDhcpdLog([], lines, NOW), lines, NOW + MINUTE);
}

function reported(clients: readonly UnservedClient[], pool = use(null), graceMs = MINUTE): readonly string[] {
  return unservedProblems(clients, [pool], graceMs).map(({ message }) => message);
}

it("names who is turned away for as long as is waited, even while others renew", () => {
  const clients = asked(TURNED_AWAY);
  const message = `dhcpd hears machines that get no lease, since 2026-11-30T12:00:00.000Z: ${MAC}; it has no free lease, 2 of 2 addresses are used`;
  expect(reported(clients, use(NOW / 1000 + 30))).toEqual([message]);
  expect(reported(clients, use(null), MINUTE + 1)).toEqual([]);
  expect(reported(clients, use(null, "eth1"))).toEqual([]);
});

it("one whom dhcpd offers to and who never asks on is told of while nobody is given anything", () => {
  const clients = asked(PLAIN);
  expect(reported(clients, use(NOW / 1000 - 1))).toHaveLength(1);
  expect(reported(clients, use(NOW / 1000))).toEqual([]);
});

it("is no matter of the IPv6 window on the same link, whose server has a log of its own", () => {
  const six = { ...use(null), pool: { ...use(null).pool, prefix: ipPrefix("2001:db8::/64") } };
  expect(reported(asked(TURNED_AWAY), six)).toEqual([]);
});

it("is over with an acknowledgement, whoever it names itself, and when the client asks no more", () => {
  const clients = asked(TURNED_AWAY);
  const ack = `DHCPACK on 10.1.0.10 to ${MAC} (a) via b) via eth0`;
  expect(noteDhcpdLog(clients, [ack], NOW + 2 * MINUTE)).toEqual([]);
  expect(noteDhcpdLog(clients, [], NOW + 11 * MINUTE - 1)).toEqual(clients);
  expect(noteDhcpdLog(clients, [], NOW + 11 * MINUTE)).toEqual([]);
});

it("hears relays whose address is in the pool's network", () => {
  const relayed = (relay: string) => asked(`DHCPDISCOVER from ${MAC} (name) via ${relay}: network relayed-1: no free leases`);
  expect(reported(relayed("10.1.0.1"), use(null, null))).toHaveLength(1);
  expect(reported(relayed("10.2.0.1"), use(null, null))).toEqual([]);
});

it("passes over our own questions, and whom dhcpd is not to answer", () => {
  const lines = [
    `DHCPDISCOVER from ${QUESTION_HARDWARE_ADDRESS} via eth0`,
    `${PLAIN}: load balance to peer s1`,
    `${PLAIN}: host h: ignored`,
    "DHCPDISCOVER from nonsense via eth0",
    `DHCPREQUEST for 10.1.0.10 from ${MAC} via eth0: lease owned by peer`,
  ];
  expect(asked(...lines)).toEqual([]);
});

it("a storm is remembered up to a limit, and four of it are named", () => {
  const lines = Array.from({ length: 2000 }, (_, i) => {
    const low = i.toString(16).padStart(4, "0");
    return `DHCPDISCOVER from 02:00:00:00:${low.slice(0, 2)}:${low.slice(2)} via eth0: no free leases`;
  });
  const clients = asked(...lines);
  expect(clients).toHaveLength(1024);
  expect(reported(clients)[0]).toContain("02:00:00:00:00:03 and 1020 more;");
});
