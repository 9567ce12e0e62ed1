import { ipAddress, ipPrefix, type Subnet } from "@berth/core";

/** With something in every column. */
export const subnet: Subnet = {
  id: 1,
  prefix: ipPrefix("192.168.50.0/24"),
  site: "default",
  gateway: ipAddress("192.168.50.1"),
  domain: "rack.example",
  mode: "window",
  window: { first: ipAddress("192.168.50.200"), last: ipAddress("192.168.50.220") },
  enlistment: null,
  reserved: [{ first: ipAddress("192.168.50.10"), last: ipAddress("192.168.50.19") }],
  dns: [ipAddress("192.168.50.2")],
  ntp: null,
  leaseTime: 600,
  maxLeaseTime: 1200,
  dhcp: { boot: { bios: "undionly.kpxe" }, mtu: 9000, snippet: 'option www-server "x";\n' },
  heldUntil: 1_700_000_000_000,
  createdAt: 1_600_000_000_123,
};
