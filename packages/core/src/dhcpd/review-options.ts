import { addressFamily, parseIpAddress, type IpAddress } from "../address/ip.js";
import { prefixContains, prefixFamily } from "../address/prefix.js";
import { BOOT_FILE_MAX } from "../desired/dhcp-settings.js";
import type { Problem } from "../problem.js";
import type { BootChoices, SubnetDeclaration } from "./config.js";
import { reviewSnippet } from "./snippet.js";

/** What a DHCP message carries of options, less than half of what RFC 3396 would let a client take: an option is one octet of length. */
const OPTION_OCTETS_MAX = 255;

/** What machines of a subnet are told. */
type Told = Pick<SubnetDeclaration, "prefix" | "options" | "boot" | "snippet">;

/** Reviews it; `at` names the subnet. */
export function reviewOptions(subnet: Told, at = `subnet ${subnet.prefix}`): Problem[] {
  return [
    ...reviewAddresses(subnet, at),
    ...reviewRouters(subnet, at),
    ...reviewSizes(subnet, at),
    ...(subnet.boot === null ? [] : reviewBoot(subnet.boot, at)),
    ...(subnet.snippet === null ? [] : reviewSnippet(subnet.snippet, at)),
  ];
}

function reviewAddresses({ options, boot }: Told, at: string): Problem[] {
  const { routers, domainNameServers, ntpServers, more, routes } = options;
  const lists: [string, readonly IpAddress[]][] = [
    ["routers", routers],
    ["domainNameServers", domainNameServers],
    ["ntpServers", ntpServers],
    ...more.flatMap(({ name, value }): [string, readonly IpAddress[]][] =>
      typeof value === "object" && "addresses" in value ? [[name, value.addresses]] : [],
    ),
    ["routes", routes.map(({ via }) => via)],
    ["nextServer", boot === null ? [] : [boot.nextServer]],
  ];
  return lists.flatMap(([option, addresses]) =>
    addresses
      .filter((address) => parseIpAddress(address) === null || addressFamily(address) !== 4)
      .map((address) => ({
        code: "option-not-an-ipv4-address",
        at,
        message: `${option} holds '${address}', which is not an IPv4 address`,
        remedy: "give IPv4 addresses",
      })),
  );
}

/** A router that is not on the link is none. A prefix of one address is on no link with anybody, there it is usual. */
function reviewRouters({ prefix, options }: Told, at: string): Problem[] {
  if (prefix.endsWith("/32")) return [];
  const off = options.routers.filter((router) => parseIpAddress(router) !== null && !prefixContains(prefix, router));
  const problems: Problem[] = off.map((router) => ({
    code: "router-outside-subnet",
    at,
    message: `the router ${router} is not in it, so no machine could reach it`,
    remedy: "give routers inside the prefix",
  }));
  for (const route of options.routes) {
    if (prefixFamily(route.prefix) !== 4)
      problems.push({ code: "route-family", at, message: `the route to ${route.prefix} is not IPv4`, remedy: "leave it out" });
    else if (!prefixContains(prefix, route.via))
      problems.push({
        code: "router-outside-subnet",
        at,
        message: `the route to ${route.prefix} leads over ${route.via}, which is not in it`,
        remedy: "give routers inside the prefix",
      });
  }
  return problems;
}

/** A longer option is split over several, which firmware does not join again. */
function reviewSizes({ options }: Told, at: string): Problem[] {
  // Uncompressed, RFC 1035 §3.1: a length octet before each label and a zero at the end.
  const search = options.domainSearch.reduce((sum, name) => sum + name.length + 2, 0);
  const routes = options.routes.length * 9;
  return Object.entries({ domainSearch: search, routes })
    .filter(([, octets]) => octets > OPTION_OCTETS_MAX)
    .map(([name, octets]) => ({
      code: "option-too-long",
      at,
      message: `${name} would take ${octets} octets, more than the ${OPTION_OCTETS_MAX} of one option`,
      remedy: "name fewer",
    }));
}

function reviewBoot({ nextServer: _, ...files }: BootChoices, at: string): Problem[] {
  return Object.entries(files)
    .filter(([, file]) => file !== null && file.length > BOOT_FILE_MAX)
    .map(([kind, file]) => ({
      code: "boot-file-too-long",
      at,
      message: `the boot file for ${kind} has ${file?.length ?? 0} characters, more than the ${BOOT_FILE_MAX} that a DHCP message holds`,
      remedy: "give a shorter path",
    }));
}
