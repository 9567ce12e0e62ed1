import {
  findRackLinks,
  parseInterfaces,
  parseIpAddress,
  prefixContains,
  refused,
  accepted,
  type DesiredState,
  type RackLink,
  type RackLinks,
  type Result,
} from "@berth/core";
import { EnvironmentError, type Commands, type Files } from "@berth/host";
import { observeInterfaces } from "../observe/interfaces/observe-interfaces.js";

export interface LinkSources {
  /** `NAME=ADDRESS` each: what a person says, instead of what is observed. */
  readonly link: readonly string[];
  /** Output of `ip -j addr` of another host. */
  readonly addressFile?: string;
}

/** `ip addr` of a host with 10,000 addresses is 4 MiB. */
const FILE_MAX = 64 * 1024 * 1024;

/** Where the subnets are attached: as told, as a file of addresses has it, or as this host has it. */
export async function findLinks(
  desired: DesiredState,
  sources: LinkSources,
  ports: { readonly files: Files; readonly commands: Commands },
): Promise<Result<RackLinks>> {
  if (sources.link.length > 0) return toldLinks(desired, sources.link);
  if (sources.addressFile === undefined) return accepted(findRackLinks(desired.subnets, await observeInterfaces(ports.commands)));
  const path = sources.addressFile;
  const bytes = await ports.files.read(path, FILE_MAX);
  if (bytes === null) throw new EnvironmentError("file-missing", path, `there is no file ${path}`);
  const interfaces = parseInterfaces(new TextDecoder().decode(bytes), path);
  return interfaces.ok ? accepted(findRackLinks(desired.subnets, interfaces.value)) : interfaces;
}

function toldLinks(desired: DesiredState, told: readonly string[]): Result<RackLinks> {
  const links: RackLink[] = [];
  for (const text of told) {
    const equals = text.lastIndexOf("=");
    const address = equals < 1 ? null : parseIpAddress(text.slice(equals + 1));
    if (address === null) {
      const message = `'${text}' is not NAME=ADDRESS`;
      return refused({ code: "link-malformed", at: "--link", message, remedy: "write --link eth0=192.168.50.1" });
    }
    const attached = desired.subnets.filter(({ prefix }) => prefixContains(prefix, address));
    if (attached.length === 0) {
      const message = `${address} is in no subnet of the desired state`;
      return refused({ code: "link-without-subnet", at: "--link", message, remedy: "give the rack's address in a subnet" });
    }
    links.push(...attached.map(({ id }) => ({ name: text.slice(0, equals), subnetId: id, address })));
  }
  return accepted({ links });
}
