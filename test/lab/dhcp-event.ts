/** One call of a DHCP client's script. */
export interface DhcpEvent {
  /** dhclient-script(8): PREINIT, BOUND, RENEW, REBIND, REBOOT, EXPIRE, FAIL...; from udhcpc: DECONFIG, BOUND, RENEW, NAK, LEASEFAIL. */
  readonly reason: string;
  readonly interfaceName: string;
  readonly address: string | null;
  /** Dotted from dhclient, a length from udhcpc. */
  readonly mask: string | null;
  readonly oldAddress: string | null;
  readonly serverId: string | null;
  readonly leaseSeconds: number | null;
  readonly routers: readonly string[];
  readonly nameServers: readonly string[];
  readonly ntpServers: readonly string[];
  readonly domainName: string | null;
  readonly domainSearch: string | null;
  readonly hostName: string | null;
  readonly mtu: string | null;
  readonly bootFile: string | null;
  readonly nextServer: string | null;
}

/** Reads whole lines as the lab's client scripts write them; a last line without its end is left for the next time. */
export function parseDhcpEvents(text: string): DhcpEvent[] {
  return text.split("\n").slice(0, -1).map(parseLine);
}

function parseLine(line: string): DhcpEvent {
  const fields = new Map(line.split("\t").map((field) => split(field)));
  const value = (key: string): string | null => {
    const text = fields.get(key) ?? "";
    return text === "" ? null : text;
  };
  const list = (key: string): string[] => value(key)?.split(/[ ,]+/) ?? [];
  const lease = value("lease");
  return {
    reason: value("reason") ?? "",
    interfaceName: value("interface") ?? "",
    address: value("address"),
    mask: value("mask"),
    oldAddress: value("old"),
    serverId: value("server"),
    leaseSeconds: lease === null ? null : Number(lease),
    routers: list("routers"),
    nameServers: list("dns"),
    ntpServers: list("ntp"),
    domainName: value("domain"),
    domainSearch: value("search"),
    hostName: value("hostname"),
    mtu: value("mtu"),
    bootFile: value("file"),
    nextServer: value("next"),
  };
}

function split(field: string): [string, string] {
  const at = field.indexOf("=");
  return [field.slice(0, at), field.slice(at + 1)];
}
