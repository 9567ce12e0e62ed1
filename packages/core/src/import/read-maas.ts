import { issueText } from "../text/issue-text.js";
import { z } from "zod";
import type { Problem } from "../problem.js";
import { RowCollector } from "./collect-rows.js";
import { shownText, type ImportOptions, type ImportReading } from "./import-row.js";
import { readJsonRecords } from "./read-json.js";

const linkSchema = z.object({
  mode: z.string().optional(),
  ip_address: z.string().nullish(),
  subnet: z.object({ cidr: z.string() }).nullish(),
});

const interfaceSchema = z.object({
  name: z.string(),
  type: z.string().optional(),
  mac_address: z.string().nullish(),
  parents: z.array(z.string()).nullish(),
  links: z.array(linkSchema).nullish(),
});
type MaasInterface = z.infer<typeof interfaceSchema>;

const machineSchema = z.object({
  hostname: z.string(),
  system_id: z.string().nullish(),
  boot_interface: z.object({ mac_address: z.string().nullish() }).nullish(),
  interface_set: z.array(interfaceSchema),
});
type MaasMachine = z.infer<typeof machineSchema>;

/** Interfaces over interfaces over interfaces; bridges over VLANs over bonds need three. */
const PARENTS_MAX = 8;
/** How an interface gets an address that MAAS keeps for it; others come from a dynamic range. */
const KEPT_MODES: ReadonlySet<string> = new Set(["auto", "static"]);

/**
 * Machines of a MAAS, from the answer of `maas PROFILE machines read` (also `devices read`). Each address that MAAS keeps for a machine is a row; the NICs of a
 * bond, bridge or VLAN are the physical ones below it. Dynamic addresses are left out.
 */
export function readMaasExport(text: string, options: ImportOptions): ImportReading {
  const collector = new RowCollector(options);
  const records = readJsonRecords(text, options.file);
  if (!records.ok) return { rows: [], refusals: records.problems, skipped: [] };
  for (const [index, record] of records.value.entries()) {
    if (collector.isFull) {
      collector.refuseRest(options.file);
      break;
    }
    const machine = machineSchema.safeParse(record);
    if (machine.success) addMachine(collector, machine.data, options.file);
    else collector.refusals.push(notAMachine(`${options.file}: record ${index + 1}`, machine.error));
  }
  return collector.reading();
}

function addMachine(collector: RowCollector, machine: MaasMachine, file: string): void {
  const { boot_interface: boot, hostname, interface_set: interfaces } = machine;
  const at = `${file}: ${shownText(hostname)}`;
  const bootNic = boot?.mac_address ?? interfaces.find(({ type }) => type === "physical")?.mac_address ?? null;
  const byName = new Map(interfaces.map((known) => [known.name, known]));
  // The machine is known by the NIC it boots from: its address comes first, and every other row begins with that NIC.
  const sorted = interfaces.toSorted(
    (a, b) => Number(nicsOf(b, byName).includes(bootNic ?? "")) - Number(nicsOf(a, byName).includes(bootNic ?? "")),
  );
  let added = 0;
  let firstNic: string | null = null;
  for (const link of sorted) {
    const nics = nicsOf(link, byName);
    for (const { ip_address: address, mode, subnet } of link.links ?? []) {
      if (address === null || address === undefined || address === "") continue;
      const where = `${at} ${shownText(link.name)}`;
      if (!KEPT_MODES.has(mode ?? "static")) {
        collector.skipped.push({
          code: "address-dynamic",
          at: where,
          message: `${shownText(address)} is of mode ${shownText(mode ?? "")}`,
        });
        continue;
      }
      firstNic ??= nics.find((nic) => nic === bootNic) ?? nics[0] ?? null;
      const ordered = firstNic === null ? nics : [firstNic, ...nics.filter((nic) => nic !== firstNic)];
      collector.add({ at: where, nics: ordered, name: hostname, address, subnet: subnet?.cidr ?? null });
      added += 1;
    }
  }
  if (added === 0) collector.add({ at, nics: bootNic === null ? [] : [bootNic], name: hostname, address: null, subnet: null });
}

/** Hardware addresses of the physical interfaces that an interface stands on. */
function nicsOf(link: MaasInterface, byName: ReadonlyMap<string, MaasInterface>, depth = 0): string[] {
  const parents = (link.parents ?? []).flatMap((name) => byName.get(name) ?? []);
  if (parents.length > 0 && depth < PARENTS_MAX)
    return [...new Set(parents.flatMap((parent) => nicsOf(parent, byName, depth + 1)))];
  return link.mac_address === null || link.mac_address === undefined || link.mac_address === "" ? [] : [link.mac_address];
}

function notAMachine(at: string, error: z.ZodError): Problem {
  const [issue] = error.issues;
  const message = `it is no machine of MAAS: ${issue?.path.join(".") ?? ""} ${issue === undefined ? "" : issueText(issue)}`;
  return { code: "record-not-a-machine", at, message: shownText(message), remedy: "export with `maas PROFILE machines read`" };
}
