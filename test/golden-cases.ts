import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import {
  desiredStateSchema,
  formatProblem,
  parseIpAddress,
  prefixAround,
  prefixContains,
  type DesiredState,
  type IpAddress,
  type IpPrefix,
  type RackLinks,
} from "@berth/core";
import { renderRack, type RenderedPlaces } from "../packages/agent/src/commands/rendered-rack.js";

/** A folder of `test/golden`: `desired.json` and `links.json`, beside the files that a rack renders from them. */
export interface GoldenCase {
  readonly name: string;
  readonly folder: string;
  readonly desired: DesiredState;
  readonly links: RackLinks;
}

const root = fileURLToPath(new URL("./golden/", import.meta.url));
const INPUTS = ["desired.json", "links.json"];

export function goldenCases(): GoldenCase[] {
  const names = readdirSync(root, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return names.map(({ name }) => goldenCase(name));
}

export function goldenCase(name: string): GoldenCase {
  const folder = join(root, name);
  const desired = desiredStateSchema.parse(JSON.parse(readFileSync(join(folder, "desired.json"), "utf8")));
  const told = JSON.parse(readFileSync(join(folder, "links.json"), "utf8")) as Record<string, string[]>;
  const places = Object.entries(told).flatMap(([interfaceName, texts]) => texts.map((text) => placeOf(interfaceName, text)));
  const links = places.flatMap(({ network: _, ...place }) => {
    const attached = desired.subnets.filter(({ prefix }) => prefixContains(prefix, place.address));
    return attached.map(({ id }) => ({ ...place, subnetId: id }));
  });
  const relays = places.flatMap((place) => {
    const relayed = desired.subnets.filter(({ relay }) => relay?.server === place.address);
    return relayed.map(({ id }) => ({ ...place, subnetId: id }));
  });
  return { name, folder, desired, links: relays.length === 0 ? { links } : { links, relays } };
}

/** `192.168.50.1`, or `10.240.1.10/24` where the length matters because only relayed messages arrive there. */
function placeOf(name: string, text: string): { readonly name: string; readonly address: IpAddress; readonly network: IpPrefix } {
  const [bare = "", length = "24"] = text.split("/");
  const address = parseIpAddress(bare);
  if (address === null) throw new Error(`not an address: ${text}`);
  return { name, address, network: prefixAround(address, Number(length)) };
}

/** Everything a rack renders, by path below the case's folder; `findings.txt` holds what the review says, if anything. */
export function renderedFiles({ desired, links }: GoldenCase, places: RenderedPlaces): Map<string, string> {
  const rendered = renderRack(desired, links, places);
  const files = new Map<string, string>();
  if (rendered.dhcpdConf !== null) files.set("dhcpd.conf", rendered.dhcpdConf);
  if (rendered.dhcpd6Conf !== null) files.set("dhcpd6.conf", rendered.dhcpd6Conf);
  if (rendered.namedConf !== null) files.set("named.conf", rendered.namedConf);
  for (const { fileName, text } of rendered.zones) files.set(`zones/${fileName}`, text);
  const findings = [...rendered.refusals, ...rendered.warnings].map((problem) => `${formatProblem(problem)}\n`);
  if (findings.length > 0) files.set("findings.txt", findings.join(""));
  return files;
}

/** The files that lie in the case's folder beside its inputs. */
export function goldenFiles(folder: string): Map<string, string> {
  const paths = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .filter((path) => !INPUTS.includes(path));
  return new Map(paths.sort().map((path) => [path, readFileSync(join(folder, path), "utf8")]));
}

/** Puts the files into a folder; those that it has of an earlier rendering go. */
export function writeFiles(folder: string, files: ReadonlyMap<string, string>): void {
  if (existsSync(folder)) for (const path of goldenFiles(folder).keys()) if (!files.has(path)) rmSync(join(folder, path));
  for (const [path, text] of files) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
}
