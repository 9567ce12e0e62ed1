import { keyword, type ConfNode } from "./conf-tree.js";
import { findSetting, settingName, settingValues } from "./settings.js";

/** Settings that Berth takes over into its subnets, or decides for itself so that they mean the same. */
const TAKEN_OVER: ReadonlySet<string> = new Set([
  "option routers",
  "option domain-name",
  "option domain-name-servers",
  "option ntp-servers",
  "option subnet-mask",
  "option broadcast-address",
  "option dhcp-server-identifier",
  "option dhcp-lease-time",
  "default-lease-time",
  "max-lease-time",
  "range",
  "authoritative",
  "use-host-decl-names",
]);

/** Settings that Berth has at one value; another value is lost. */
const FIXED: Readonly<Record<string, string>> = {
  "ddns-update-style": "none",
  "ignore-client-uids": "true",
  "ping-check": "true",
  "ping-timeout": "1",
};

/** Why the others are lost, where there is more to say. */
const REASONS: Readonly<Record<string, string>> = {
  if: "conditions are not taken over; only classes of boot clients are known to Berth",
  switch: "conditions are not taken over",
  class: "classes are not taken over",
  subclass: "classes are not taken over",
  subnet6: "IPv6 is declared by hand",
  "shared-network6": "IPv6 is declared by hand",
  failover: "Berth divides windows between racks by itself",
  zone: "Berth writes zones itself, from the ledger",
  key: "keys are made by the agent",
  "omapi-port": "OMAPI is a setting of the agent: dhcpd.omapi",
  "omapi-key": "the agent makes the key for OMAPI",
  filename: "boot files are not taken over",
  "next-server": "boot servers are not taken over",
  "log-facility": "dhcpd's output goes to the agent's state folder",
  "lease-file-name": "the leases file is a setting of the agent: dhcpd.leases",
  "pid-file-name": "the agent keeps the process, without a pid file",
};

/** Null when the statement has a counterpart in Berth, else why it has none. */
export function counterpartOf(node: ConfNode): string | null {
  const name = settingName(node.words);
  const value = settingValues(node).join(" ").toLowerCase();
  if (node.body !== null) return REASONS[name] ?? null;
  if (TAKEN_OVER.has(name)) return extraValues(name, node);
  if (name === "not" && value === "authoritative") return "Berth is authoritative where it serves every subnet of a wire";
  if (name in FIXED)
    return FIXED[name] === value || (value === "on" && FIXED[name] === "true") ? null : `Berth has it at ${FIXED[name] ?? ""}`;
  if (name === "min-lease-time")
    return isImpliedMinimum(node) ? null : "Berth's shortest lease is 300 s, or the usual one if that is shorter";
  if (name === "option domain-search") return isOwnDomain(node) ? null : "Berth's search list is the subnet's domain";
  if (name === "option" || name.startsWith("option ")) return optionReason(node);
  return REASONS[name] ?? "Berth has nothing like it";
}

function extraValues(name: string, node: ConfNode): string | null {
  return name === "option routers" && settingValues(node).length > 1 ? "Berth gives one router, the first" : null;
}

function isImpliedMinimum(node: ConfNode): boolean {
  const usual = findSetting(node, "default-lease-time");
  const seconds = usual === null ? Infinity : Number(settingValues(usual)[0]);
  return Number(settingValues(node)[0]) === Math.min(seconds, 300);
}

function isOwnDomain(node: ConfNode): boolean {
  const domain = findSetting(node, "option domain-name");
  return domain !== null && settingValues(node).join() === settingValues(domain).join();
}

function optionReason({ words }: ConfNode): string {
  const isDefinition = keyword(words[2]) === "code";
  return isDefinition ? "options of one's own are not taken over" : "Berth has no such option";
}
