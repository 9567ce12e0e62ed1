import { z } from "zod";
import type { Problem } from "../problem.js";
import { RowCollector } from "./collect-rows.js";
import { shownText, type ImportOptions, type ImportReading } from "./import-row.js";
import { readJsonRecords } from "./read-json.js";

/** NetBox writes a choice as `{"value", "label"}`, its CSV-like exports as the value alone. */
const choiceSchema = z.union([z.string().transform((value) => ({ value })), z.object({ value: z.string() })]).nullish();
const identity = { id: z.int() };

const interfaceSchema = z.object({
  ...identity,
  device: z.object({ ...identity, name: z.string().nullish() }),
  name: z.string(),
  mac_address: z.string().nullish(),
  /** Since NetBox 4.2. */
  primary_mac_address: z.object({ mac_address: z.string() }).nullish(),
  lag: z.object(identity).nullish(),
});
type NetboxInterface = z.infer<typeof interfaceSchema>;

const addressSchema = z.object({
  ...identity,
  address: z.string(),
  status: choiceSchema,
  role: choiceSchema,
  dns_name: z.string().nullish(),
  assigned_object_type: z.string().nullish(),
  assigned_object_id: z.int().nullish(),
});
type NetboxAddress = z.infer<typeof addressSchema>;

const DYNAMIC: ReadonlySet<string> = new Set(["dhcp", "slaac", "deprecated"]);
/** Roles of an address that several machines share or that moves; NetBox's choices. */
const SHARED: ReadonlySet<string> = new Set(["vip", "vrrp", "hsrp", "glbp", "carp", "anycast", "secondary", "loopback"]);
const INTERFACE_TYPE = "dcim.interface";

/**
 * Machines of a NetBox, from its lists of IP addresses and of interfaces (`/api/ipam/ip-addresses/?limit=0`, `/api/dcim/interfaces/?limit=0`), given together. Each address of a device's
 * interface is a row; the NICs of a LAG are its members. Dynamic, deprecated and shared addresses are left out, as is what belongs to no device.
 */
export function readNetboxExport(
  texts: readonly { readonly file: string; readonly text: string }[],
  options: ImportOptions,
): ImportReading {
  const collector = new RowCollector(options);
  const interfaces = new Map<number, NetboxInterface>();
  const addresses: NetboxAddress[] = [];
  for (const { file, text } of texts) {
    const records = readJsonRecords(text, file);
    if (!records.ok) collector.refusals.push(...records.problems);
    else
      for (const [index, record] of records.value.entries()) {
        const link = interfaceSchema.safeParse(record);
        const address = addressSchema.safeParse(record);
        if (link.success) interfaces.set(link.data.id, link.data);
        else if (address.success) addresses.push(address.data);
        else collector.refusals.push(unknownRecord(`${file}: record ${index + 1}`));
      }
  }
  addAddresses(collector, { addresses, interfaces, file: options.file });
  return collector.reading();
}

interface Export {
  readonly addresses: readonly NetboxAddress[];
  readonly interfaces: ReadonlyMap<number, NetboxInterface>;
  readonly file: string;
}

function addAddresses(collector: RowCollector, { addresses, interfaces, file }: Export): void {
  const members = membersOf(interfaces);
  const firstNics = new Map<number, string>();
  for (const address of addresses) {
    if (collector.isFull) return collector.refuseRest(file);
    const at = `${file}: ${shownText(address.address)}`;
    const skipped = whySkipped(address);
    if (skipped !== null) {
      collector.skipped.push({ ...skipped, at });
      continue;
    }
    const link = interfaces.get(address.assigned_object_id ?? -1);
    if (link === undefined) {
      collector.refusals.push(unknownInterface(at, address));
      continue;
    }
    const own = [...(members.get(link.id) ?? []), link].flatMap((part) => macOf(part) ?? []);
    // A LAG often shows the address of its first member as its own.
    const nics = [...new Set(own.map((nic) => nic.toLowerCase()))];
    const first = firstNics.get(link.device.id) ?? nics[0];
    if (first !== undefined) firstNics.set(link.device.id, first);
    const ordered = first === undefined ? nics : [first, ...nics.filter((nic) => nic !== first)];
    collector.add({ at, nics: ordered, name: nameOf(address, link), address: address.address, subnet: null });
  }
}

function membersOf(interfaces: ReadonlyMap<number, NetboxInterface>): ReadonlyMap<number, readonly NetboxInterface[]> {
  const members = new Map<number, NetboxInterface[]>();
  for (const link of interfaces.values()) {
    if (link.lag === null || link.lag === undefined) continue;
    const known = members.get(link.lag.id);
    if (known === undefined) members.set(link.lag.id, [link]);
    else known.push(link);
  }
  return members;
}

function whySkipped({ assigned_object_type: type, role, status }: NetboxAddress): Omit<Problem, "at"> | null {
  if (type !== INTERFACE_TYPE) return { code: "address-of-no-device", message: `it belongs to ${shownText(type ?? "nothing")}` };
  if (DYNAMIC.has(status?.value ?? ""))
    return { code: "address-dynamic", message: `its status is ${shownText(status?.value ?? "")}` };
  if (SHARED.has(role?.value ?? "")) return { code: "address-shared", message: `its role is ${shownText(role?.value ?? "")}` };
  return null;
}

function nameOf({ dns_name: name }: NetboxAddress, { device }: NetboxInterface): string | null {
  return name === null || name === undefined || name === "" ? (device.name ?? null) : name;
}

function macOf({ mac_address: mac, primary_mac_address: primary }: NetboxInterface): string | null {
  const text = primary?.mac_address ?? mac ?? "";
  return text === "" ? null : text;
}

function unknownRecord(at: string): Problem {
  const message = "it is neither an IP address nor an interface of NetBox";
  return { code: "record-not-netbox", at, message, remedy: "export /api/ipam/ip-addresses/ and /api/dcim/interfaces/" };
}

function unknownInterface(at: string, { assigned_object_id: id }: NetboxAddress): Problem {
  const message = `interface ${id ?? ""} of the address is not in the export`;
  return { code: "interface-not-given", at, message, remedy: "give the export of /api/dcim/interfaces/ together with this one" };
}
