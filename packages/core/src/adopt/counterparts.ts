import { moreOptionsSchema } from "../desired/dhcp-settings.js";
import { keyword, type ConfNode } from "./conf-tree.js";
import { settingName, settingValues } from "./settings.js";

/** Settings that are read for each subnet that they reach, with a finding where a value cannot be had. One that reaches none changes nothing for anybody. */
const READ_BY_SUBNETS: ReadonlySet<string> = new Set([
  "option routers",
  "option domain-name",
  "option domain-name-servers",
  "option domain-search",
  "option ntp-servers",
  "option interface-mtu",
  "option subnet-mask",
  "option broadcast-address",
  "option dhcp-server-identifier",
  "option dhcp-lease-time",
  ...Object.keys(moreOptionsSchema.shape).map((name) => `option ${name}`),
  "option dhcp6.name-servers",
  "option dhcp6.domain-search",
  "option dhcp6.sntp-servers",
  "server-identifier",
  "default-lease-time",
  "max-lease-time",
  "min-lease-time",
  "permit unknown-clients",
]);

/** What decides which file a machine loads; read for each kind of firmware. */
const READ_BY_BOOT: ReadonlySet<string> = new Set([
  "next-server",
  "filename",
  "if",
  "elsif",
  "else",
  "class",
  "option default-url",
]);

/** Statements that mean something only where they stand, and that are read there. */
const TAKEN_OVER: ReadonlySet<string> = new Set(["range", "range6", "authoritative"]);

/** Settings that Berth has at one value; another value is lost. */
const FIXED: Readonly<Record<string, string>> = {
  "ddns-update-style": "none",
  "ddns-updates": "false",
  "ignore-client-uids": "true",
  "ping-check": "true",
  "ping-timeout": "1",
  "use-host-decl-names": "true",
  "permit booting": "allow",
  "permit bootp": "allow",
};

/** Why the others are lost, where there is more to say. */
const REASONS: Readonly<Record<string, string>> = {
  switch: "conditions other than those of boot clients are not taken over",
  subclass: "classes of single machines are not taken over",
  prefix6: "Berth delegates no prefixes",
  zone: "Berth writes zones itself, from the ledger",
  key: "keys are made by the agent",
  "omapi-port": "OMAPI is a setting of the agent: dhcpd.omapi",
  "omapi-key": "the agent makes the key for OMAPI",
  "server-name": "Berth tells machines no name of a boot server",
  "preferred-lifetime": "Berth leaves the preferred lifetime to dhcpd",
  "log-facility": "dhcpd's output goes to the agent's state folder",
  "lease-file-name": "the leases file is a setting of the agent: dhcpd.leases",
  "pid-file-name": "the agent keeps the process, without a pid file",
};

const NOTHING_LIKE_IT = "Berth has nothing like it";

export function isReadBySubnets(name: string): boolean {
  return READ_BY_SUBNETS.has(name);
}

export function isReadByBoot(name: string): boolean {
  return READ_BY_BOOT.has(name);
}

/** Null when the statement has a counterpart in Berth or is judged where it has its effect, else why it has none. */
export function counterpartOf(node: ConfNode): string | null {
  const name = settingName(node.words);
  if (isReadByBoot(name)) return null;
  if (node.body !== null) return REASONS[name] ?? NOTHING_LIKE_IT;
  if (isOptionDefinition(node)) return null; // by itself it tells nobody anything, and what uses it is judged by itself
  if (isReadBySubnets(name) || TAKEN_OVER.has(name)) return null;
  const value = settingValues(node).join(" ").toLowerCase();
  if (name === "not" && value === "authoritative") return "Berth is authoritative where it serves every subnet of a wire";
  const fixed = FIXED[name];
  if (fixed !== undefined) return isAt(fixed, node) ? null : `Berth has it at ${fixed}`;
  if (name === "option" || name.startsWith("option ")) return "Berth has no such option";
  return REASONS[name] ?? NOTHING_LIKE_IT;
}

const SPELLINGS: Readonly<Record<string, readonly string[]>> = { true: ["true", "on"], false: ["false", "off"] };

function isAt(fixed: string, node: ConfNode): boolean {
  const permit = settingName(node.words).startsWith("permit ");
  const value = permit ? keyword(node.words[0]) : settingValues(node).join(" ").toLowerCase();
  return (SPELLINGS[fixed] ?? [fixed]).includes(value);
}

/** `option NAME code NUMBER = TYPE`. */
export function isOptionDefinition({ words }: ConfNode): boolean {
  return keyword(words[0]) === "option" && keyword(words[2]) === "code";
}
