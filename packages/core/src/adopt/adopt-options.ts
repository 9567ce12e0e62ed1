import { addressBytes, addressFromBytes, type IpAddress } from "../address/ip.js";
import { netmask, parseIpPrefix, prefixContains, prefixLength, prefixRange, type IpPrefix } from "../address/prefix.js";
import { moreOptionsSchema, type DhcpSettings, type MoreOptions } from "../desired/dhcp-settings.js";
import type { Definitions } from "./definitions.js";
import type { SettingReader } from "./setting-reader.js";

/** A list that is longer is no single option any more, which `reviewOptions` refuses. */
const SEARCH_OCTETS_MAX = 255;
const SEARCH_MAX = 32;
const ROUTES_MAX = 24;

/** What machines of an IPv4 subnet are told beside addresses and lease times, as its settings. */
export function adoptOptions(
  prefix: IpPrefix,
  reader: SettingReader,
  { domain, definitions }: { readonly domain: string | null; readonly definitions: Definitions },
): DhcpSettings {
  checkNetwork(prefix, reader);
  const routers = routersOf(prefix, reader);
  const mtu = reader.integer("option interface-mtu", 68, 65_535);
  const options = moreOf(reader);
  const routes = routesOf(prefix, { reader, definitions, routers });
  return {
    ...(routers.length > 1 ? { routers } : {}),
    ...searchOf("option domain-search", domain, reader),
    ...(mtu === null ? {} : { mtu }),
    ...(routes === null ? {} : { routes }),
    ...(Object.keys(options).length === 0 ? {} : { options }),
  };
}

/** Left out where it is Berth's own choice, the domain alone; empty where the file has none. */
export function searchOf(name: string, domain: string | null, reader: SettingReader): Pick<DhcpSettings, "domainSearch"> {
  const names = reader.domains(name) ?? [];
  const octets = names.reduce((sum, one) => sum + one.length + 2, 0);
  if (names.length > SEARCH_MAX || octets > SEARCH_OCTETS_MAX) {
    reader.refuse(name, `more than ${SEARCH_MAX} names or ${SEARCH_OCTETS_MAX} octets, which firmware does not read`);
    return { domainSearch: [] };
  }
  return names.length === 1 && names[0] === domain ? {} : { domainSearch: names };
}

/** Those that a machine there can reach. */
export function routersOf(prefix: IpPrefix, reader: SettingReader): IpAddress[] {
  const routers = reader.addresses("option routers", 4);
  const inside = routers.filter((router) => prefixContains(prefix, router));
  if (inside.length < routers.length) reader.refuse("option routers", `not a router inside ${prefix}`);
  return inside;
}

/** Facts of the network, which dhcpd or the machine works out by itself: only another value is told. */
function checkNetwork(prefix: IpPrefix, reader: SettingReader): void {
  const facts = { "option subnet-mask": netmask(prefixLength(prefix)), "option broadcast-address": prefixRange(prefix).last };
  for (const [name, fact] of Object.entries(facts))
    if (reader.has(name) && reader.values(name).join() !== fact) reader.refuse(name, `that of ${prefix} is ${fact}`);
  if (
    reader.has("option dhcp-lease-time") &&
    reader.values("option dhcp-lease-time").join() !== reader.values("default-lease-time").join()
  )
    reader.refuse("option dhcp-lease-time", "Berth tells how long the lease is");
}

function moreOf(reader: SettingReader): MoreOptions {
  const options: Record<string, unknown> = {};
  for (const [name, schema] of Object.entries(moreOptionsSchema.shape)) {
    const setting = `option ${name}`;
    if (!reader.has(setting)) continue;
    const values = reader.values(setting);
    const [first = ""] = values;
    const candidates = [values, ...(values.length === 1 ? [first, ...(/^-?\d+$/.test(first) ? [Number(first)] : [])] : [])];
    const fitting = candidates.map((value) => schema.safeParse(value)).find(({ success }) => success);
    if (fitting?.success === true) options[name] = fitting.data;
    else reader.refuse(setting, "not a value that Berth's option of this name takes");
  }
  return moreOptionsSchema.parse(options);
}

/** RFC 3442, under whatever name the file gives option 121. */
function routesOf(
  prefix: IpPrefix,
  {
    definitions,
    reader,
    routers,
  }: { readonly definitions: Definitions; readonly reader: SettingReader; readonly routers: readonly IpAddress[] },
): NonNullable<DhcpSettings["routes"]> | null {
  const names = definitions.namesOf(ROUTES_CODE).filter((name) => reader.has(`option ${name}`));
  const [name] = names;
  if (name === undefined) return null;
  const setting = `option ${name}`;
  const routes = decodeRoutes(reader.values(setting).map(Number));
  if (routes === null || names.length > 1 || routes.some(({ via }) => !prefixContains(prefix, via))) {
    reader.refuse(setting, `not routes over routers inside ${prefix}, octet by octet`);
    return null;
  }
  const isDefault = ({ prefix: to, via }: { readonly prefix: IpPrefix; readonly via: IpAddress }): boolean =>
    to === "0.0.0.0/0" && via === routers[0];
  const others = routes.filter((route) => !isDefault(route));
  if (others.length > ROUTES_MAX) {
    reader.refuse(setting, `more than ${ROUTES_MAX} routes`);
    return null;
  }
  if (routers.length > 0 && !routes.some(({ prefix: to }) => to === "0.0.0.0/0"))
    reader.refuse(setting, "it has no default route, and Berth adds the router's");
  return others.length === 0 ? null : others;
}

const ROUTES_CODE = 121;

function decodeRoutes(octets: readonly number[]): { readonly prefix: IpPrefix; readonly via: IpAddress }[] | null {
  const routes = [];
  for (let at = 0; at < octets.length; ) {
    const length = octets[at] ?? -1;
    const significant = Math.ceil(length / 8);
    const end = at + 1 + significant + 4;
    const part = octets.slice(at, end);
    if (length > 32 || end > octets.length || part.some((octet) => !Number.isInteger(octet) || octet < 0 || octet > 255))
      return null;
    const network = addressFromBytes(Uint8Array.from([...part.slice(1, 1 + significant), ...addressBytes(ZERO)].slice(0, 4)));
    const via = addressFromBytes(Uint8Array.from(part.slice(-4)));
    const prefix = network === null ? null : parseIpPrefix(`${network}/${length}`);
    if (via === null || prefix?.ok !== true) return null;
    routes.push({ prefix: prefix.value, via });
    at = end;
  }
  return routes;
}

const ZERO = "0.0.0.0" as IpAddress;
