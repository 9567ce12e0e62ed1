import type { AdoptedSubnet, AdoptFinding, AdoptPlan } from "@berth/core";

/** A plan for people: what Berth would have, and what would be lost. Everything in it comes from a foreign file and is plain by now. */
export function adoptText(plan: AdoptPlan): string {
  const { machines, subnets, unreadable, withoutCounterpart } = plan;
  const machineRows = machines.map(({ address, at, name, nics }) => [address ?? "-", name ?? "-", nics.join(","), at]);
  return [
    ...section(["SUBNET", "MODE", "WINDOW", "GATEWAY", "DOMAIN", "LEASE", "FROM"], subnets.map(subnetRow)),
    ...section(["SUBNET", "SETTINGS"], subnets.flatMap(settingRows)),
    ...section(["ADDRESS", "NAME", "NIC", "FROM"], machineRows),
    ...section(["WITHOUT COUNTERPART", "", "WHY"], withoutCounterpart.map(findingRow)),
    ...section(["UNREADABLE", "", "WHY"], unreadable.map(findingRow)),
    `${subnets.length} subnets, ${machines.length} machines, ${withoutCounterpart.length} statements without counterpart, ` +
      `${unreadable.length} unreadable\n`,
  ].join("");
}

function subnetRow({ at, domain, gateway, leaseTime, mode, prefix, window }: AdoptedSubnet): string[] {
  const range = window === null ? "-" : `${window.first}-${window.last}`;
  return [prefix, mode, range, gateway ?? "-", domain ?? "(none: name it)", `${leaseTime}s`, at];
}

const RACKS = "the racks themselves, because the file names none";

/** All that `berth subnet set` would have to be told for it. */
function settingRows({ dhcp, dns, enlistment, ntp, prefix, reserved }: AdoptedSubnet): string[][] {
  const rows: [string, unknown][] = [
    ["dns", dns ?? RACKS],
    ["ntp", ntp ?? RACKS],
    ["reserved", reserved],
    ["enlistment", enlistment],
    ...Object.entries(dhcp ?? {}),
  ];
  return rows.flatMap(([name, value]) => {
    if (value === null || (Array.isArray(value) && value.length === 0 && name !== "domainSearch")) return [];
    return [[prefix, `${name} ${JSON.stringify(value)}`]];
  });
}

function findingRow({ at, text, why }: AdoptFinding): string[] {
  return [at, text, why];
}

function section(titles: readonly string[], rows: readonly (readonly string[])[]): string[] {
  if (rows.length === 0) return [];
  const lines = [titles, ...rows.map((row) => row.map(printable))];
  const widths = titles.map((_, column) => lines.reduce((widest, line) => Math.max(widest, line[column]?.length ?? 0), 0));
  const padded = lines.map((line) =>
    line
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("   ")
      .trimEnd(),
  );
  return [...padded.map((line) => `${line}\n`), "\n"];
}

function printable(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, "?");
}
