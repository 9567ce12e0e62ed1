import {
  compileDhcpd,
  compileZones,
  listenAddresses,
  renderDhcpd,
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
  const zones = compileZones(desired);
  const listen = listenAddresses(desired, local);
  return {
    dhcpdConf: dhcpd.ok ? renderDhcpd(dhcpd.value) : null,
    dhcpdInterfaces: dhcpd.ok ? dhcpd.value.interfaces : [],
    namedConf: zones.ok ? renderNamedConf(desired, { ...places, listen }) : null,
    zones: zones.ok ? zones.value.files.map(({ zone, fileName }) => ({ fileName, text: renderZone(zone) })) : [],
    refusals: [...(dhcpd.ok ? [] : dhcpd.problems), ...(zones.ok ? [] : zones.problems)],
    warnings: [...(dhcpd.ok ? dhcpd.value.warnings : []), ...(zones.ok ? zones.value.warnings : [])],
  };
}
