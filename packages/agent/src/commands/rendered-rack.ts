import {
  compileDhcpd,
  compileDhcpd6,
  compileZones,
  listenAddresses,
  renderDhcpd,
  renderDhcpd6,
  renderNamedConf,
  renderZone,
  type DesiredState,
  type NamedConfPaths,
  type Problem,
  type RackLinks,
} from "@berth/core";

/** The files that a rack would run, as text. */
export interface RenderedRack {
  /** Null: refused, see `refusals`. */
  readonly dhcpdConf: string | null;
  /** Interfaces dhcpd would listen on; none: it would not run. */
  readonly dhcpdInterfaces: readonly string[];
  /** Null: refused, or nothing to serve on IPv6. */
  readonly dhcpd6Conf: string | null;
  readonly dhcpd6Interfaces: readonly string[];
  readonly namedConf: string | null;
  readonly zones: readonly { readonly fileName: string; readonly text: string }[];
  /** Why nothing can be rendered. */
  readonly refusals: readonly Problem[];
  /** What is worth a look; the rest is served. */
  readonly warnings: readonly Problem[];
}

export interface RenderedPlaces {
  readonly paths: NamedConfPaths;
  readonly port: number;
  readonly controlPort: number;
}

/** Renders everything one rack would run. Pure. */
export function renderRack(desired: DesiredState, local: RackLinks, places: RenderedPlaces): RenderedRack {
  const dhcpd = compileDhcpd(desired, local);
  const dhcpd6 = compileDhcpd6(desired, local);
  const dhcpd6Interfaces = dhcpd6.ok ? dhcpd6.value.interfaces : [];
  const zones = compileZones(desired);
  const listen = listenAddresses(desired, local);
  return {
    dhcpdConf: dhcpd.ok ? renderDhcpd(dhcpd.value) : null,
    dhcpdInterfaces: dhcpd.ok ? dhcpd.value.interfaces : [],
    dhcpd6Conf: dhcpd6.ok && dhcpd6Interfaces.length > 0 ? renderDhcpd6(dhcpd6.value) : null,
    dhcpd6Interfaces,
    namedConf: zones.ok ? renderNamedConf(desired, { ...places, listen }) : null,
    zones: zones.ok ? zones.value.files.map(({ zone, fileName }) => ({ fileName, text: renderZone(zone) })) : [],
    refusals: [dhcpd, dhcpd6, zones].flatMap((compiled) => (compiled.ok ? [] : compiled.problems)),
    warnings: [dhcpd, dhcpd6, zones].flatMap((compiled) => (compiled.ok ? compiled.value.warnings : [])),
  };
}
