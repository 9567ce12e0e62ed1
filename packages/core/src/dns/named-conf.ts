import { addressFamily, compareAddresses, type IpAddress } from "../address/ip.js";
import { prefixLength, prefixNetwork, type IpPrefix } from "../address/prefix.js";
import type { DesiredState } from "../desired/schema.js";
import { assert } from "../problem.js";
import { zoneFileName } from "./zone-file-name.js";

/** Where named keeps and finds things; absolute paths. */
export interface NamedConfPaths {
  /** Its working folder: pid file, session key and managed keys; writable for named. */
  readonly directory: string;
  /** Folder of the zone files. */
  readonly zones: string;
  /** File with the key of the control channel, as {@link renderRndcKey} writes it. */
  readonly key: string;
}

export interface NamedConfOptions {
  readonly paths: NamedConfPaths;
  /** Addresses of the rack to listen on beside the loopback ones. */
  readonly listen: readonly IpAddress[];
  readonly port: number;
  /** Port of the control channel on 127.0.0.1. */
  readonly controlPort: number;
}

/** First line of a managed named.conf; by it a file is known to be ours. */
export const NAMED_HEADER = "# Managed by Berth and replaced whole: edits are lost. See berth-agent status.\n";

/** The name of the key in rndc's key file. */
export const RNDC_KEY_NAME = "berth-rndc";

/**
 * The text of named.conf: every zone primary with its file, answers and recursion for the declared networks and the enlistment slices only, no
 * transfers, a control channel on the loopback. Same content, same bytes; serials and generation are not in it.
 */
export function renderNamedConf(
  desired: Pick<DesiredState, "subnets" | "zones" | "queryFrom" | "forwarders">,
  options: NamedConfOptions,
): string {
  const { paths, controlPort } = options;
  const zones = desired.zones.map((zone) => zone.origin).sort();
  const clauses: Clause[] = [
    clause("include", text(paths.key)),
    block(
      ["acl", text(CLIENTS)],
      ["localhost", ...clientPrefixes(desired)].map((item) => clause(item)),
    ),
    block(["options"], optionClauses(desired, options)),
    block(
      ["controls"],
      [
        clause(
          "inet",
          "127.0.0.1",
          "port",
          String(controlPort),
          "allow",
          inline("127.0.0.1"),
          "keys",
          inline(text(RNDC_KEY_NAME)),
        ),
      ],
    ),
    ...zones.map((origin) => zoneClause(origin, paths)),
  ];
  return NAMED_HEADER + renderClauses(clauses, "");
}

/** rndc's key file. `secret` is base64 of at least 32 random octets; the file belongs to named and root alone. */
export function renderRndcKey(secret: string): string {
  assert(/^[A-Za-z0-9+/]{42,}={0,2}$/.test(secret), "the rndc secret is not base64 of 32 octets");
  return renderClauses(
    [block(["key", text(RNDC_KEY_NAME)], [clause("algorithm", "hmac-sha256"), clause("secret", text(secret))])],
    "",
  );
}

const CLIENTS = "berth-clients";

function optionClauses(desired: Pick<DesiredState, "forwarders">, { paths, listen, port }: NamedConfOptions): Clause[] {
  const clients = [clause(text(CLIENTS))];
  const ipv4 = sortedFamily(listen, 4);
  const ipv6 = sortedFamily(listen, 6);
  const { forwarders } = desired;
  return [
    clause("directory", text(paths.directory)),
    clause("pid-file", text(`${paths.directory}/named.pid`)),
    clause("session-keyfile", text(`${paths.directory}/session.key`)),
    clause("managed-keys-directory", text(paths.directory)),
    block(
      ["listen-on", "port", String(port)],
      ["127.0.0.1", ...ipv4].map((address) => clause(address)),
    ),
    block(
      ["listen-on-v6", "port", String(port)],
      (ipv6.length === 0 ? ["none"] : ["::1", ...ipv6]).map((address) => clause(address)),
    ),
    block(["allow-query"], clients),
    block(["allow-query-cache"], clients),
    block(["allow-recursion"], clients),
    block(["allow-transfer"], [clause("none")]),
    clause("recursion", "yes"),
    // In the operator's order: named tries the fastest first anyway, but a diff should show what was written.
    ...(forwarders.length === 0
      ? []
      : [
          block(
            ["forwarders"],
            forwarders.map((address) => clause(address)),
          ),
        ]),
    // Forwarders of a site often know private names that no public signature covers; what asks the root itself checks signatures.
    clause("dnssec-validation", forwarders.length === 0 ? "auto" : "no"),
    // Private reverse zones that are not ours belong to the site's own servers (RFC 6303 would have them answered here with "no such name").
    clause("empty-zones-enable", "no"),
    clause("notify", "no"),
    clause("max-cache-size", "10%"),
    clause("version", "none"),
    clause("hostname", "none"),
    clause("server-id", "none"),
  ];
}

function zoneClause(origin: string, paths: NamedConfPaths): Clause {
  return block(
    ["zone", text(origin)],
    // Without forwarders of its own, a question below a zone of ours could be answered from outside.
    [clause("type", "primary"), clause("file", text(`${paths.zones}/${zoneFileName(origin)}`)), block(["forwarders"], [])],
  );
}

function clientPrefixes(desired: Pick<DesiredState, "subnets" | "queryFrom">): IpPrefix[] {
  const slices = desired.subnets.flatMap((subnet) =>
    subnet.mode === "link-local" && subnet.enlistment !== null ? [subnet.enlistment.slice] : [],
  );
  return [...new Set([...desired.queryFrom, ...slices])].sort(
    (a, b) => compareAddresses(prefixNetwork(a), prefixNetwork(b)) || prefixLength(a) - prefixLength(b),
  );
}

function sortedFamily(addresses: readonly IpAddress[], family: 4 | 6): IpAddress[] {
  return [...new Set(addresses)].filter((address) => addressFamily(address) === family).sort(compareAddresses);
}

/** A word as it stands, a text that gets quotes, or a short list in braces. */
type Token = string | { readonly text: string } | { readonly items: readonly Token[] };

interface Clause {
  readonly tokens: readonly Token[];
  readonly body: readonly Clause[] | null;
}

function clause(...tokens: readonly Token[]): Clause {
  return { tokens, body: null };
}

function block(tokens: readonly Token[], body: readonly Clause[]): Clause {
  return { tokens, body };
}

function text(value: string): Token {
  return { text: value };
}

function inline(...items: readonly Token[]): Token {
  return { items };
}

/** Indentation, quotes, braces and semicolons of named.conf exist here and nowhere else. */
function renderClauses(clauses: readonly Clause[], indent: string): string {
  return clauses
    .map(({ tokens, body }) => {
      const head = indent + tokens.map(renderToken).join(" ");
      if (body === null) return `${head};\n`;
      return body.length === 0 ? `${head} { };\n` : `${head} {\n${renderClauses(body, `${indent}  `)}${indent}};\n`;
    })
    .join("");
}

function renderToken(token: Token): string {
  if (typeof token === "string") {
    assert(/^[A-Za-z0-9:./%_-]+$/.test(token), `not a bare word of named.conf: ${token}`);
    return token;
  }
  if ("items" in token) return `{ ${token.items.map((item) => `${renderToken(item)};`).join(" ")} }`;
  assert(/^[\x20-\x7e]*$/.test(token.text) && !/["\\]/.test(token.text), `cannot stand in quotes in named.conf: ${token.text}`);
  return `"${token.text}"`;
}
