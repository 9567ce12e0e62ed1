import type { ExportedMachine } from "./exported-machine.js";

interface AnsibleHost {
  readonly ansible_host: string;
  readonly berth_machine: string | null;
  readonly berth_nics: readonly string[];
  readonly berth_addresses: readonly string[];
}

interface AnsibleGroup {
  readonly hosts: Readonly<Record<string, Readonly<Record<string, never>>>>;
}

/** As Ansible's `yaml` inventory plugin reads it; JSON is YAML, too. */
export interface AnsibleInventory {
  readonly all: {
    readonly hosts: Readonly<Record<string, AnsibleHost>>;
    readonly children: Readonly<Record<string, AnsibleGroup>>;
  };
}

/** Every machine by its full name, in a group a subnet and one a domain (`subnet_192_168_50_0_24`, `domain_rack1_example`). Virtual addresses are no hosts. */
export function ansibleInventory(machines: readonly ExportedMachine[]): AnsibleInventory {
  const hosts: [string, AnsibleHost][] = [];
  const groups = new Map<string, Record<string, Readonly<Record<string, never>>>>();
  for (const { addresses, id, name, nics } of machines) {
    const [first] = addresses;
    if (id === null || first === undefined) continue;
    const every = addresses.map(({ address }) => address);
    hosts.push([name, { ansible_host: first.address, berth_machine: id, berth_nics: nics, berth_addresses: every }]);
    for (const { domain, subnet } of addresses) {
      for (const group of [`subnet_${groupName(subnet)}`, `domain_${groupName(domain)}`]) {
        const members = groups.get(group) ?? {};
        members[name] = {};
        groups.set(group, members);
      }
    }
  }
  const children = [...groups]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, members]): [string, AnsibleGroup] => [name, { hosts: members }]);
  return { all: { hosts: Object.fromEntries(hosts), children: Object.fromEntries(children) } };
}

/** Letters, digits and underscores: what Ansible takes without a warning. */
function groupName(text: string): string {
  return text.toLowerCase().replace(/[^a-z0-9]+/g, "_");
}
