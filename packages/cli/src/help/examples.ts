import type { Command } from "commander";

/** What a person would type, by the words of the command after `berth`. Commands without arguments and options need none. */
const EXAMPLES: Readonly<Record<string, readonly string[]>> = {
  "subnet create": [
    "berth subnet create 192.168.50.0/24 --domain rack1.example --gateway 192.168.50.1 --mode link-local",
    "berth subnet create 10.0.8.0/22 --domain rack2.example --window 10.0.11.0-10.0.11.255 --lease-time 10m",
    "berth subnet create 2001:db8:50::/64 --domain rack6.example --mode static --dry-run",
  ],
  "subnet set": [
    "berth subnet set 192.168.50.0/24 --dns 192.168.50.2 --ntp 192.168.50.2",
    "berth subnet set 1 --boot bios=undionly.kpxe --boot 'ipxe=http://{rack}:8080/boot.ipxe'",
    "berth subnet set 1 --gateway none",
  ],
  "subnet show": ["berth subnet show 192.168.50.0/24"],
  "subnet remove": ["berth subnet remove 192.168.50.0/24 --dry-run"],
  "machine list": ["berth machine list --state enlisted", "berth machine list -o wide"],
  "machine enroll": [
    "berth machine enroll 52:54:00:12:34:56",
    "berth machine enroll 52:54:00:12:34:56 --name web1 --address 192.168.50.30",
    "berth machine enroll 52:54:00:12:34:56 52:54:00:12:34:57 --subnet 192.168.50.0/24   (a bond)",
  ],
  "machine enlist": ["berth machine enlist 52:54:00:12:34:56 --name web1"],
  "machine rename": ["berth machine rename web1 db1"],
  "machine add-nic": ["berth machine add-nic web1 52:54:00:12:34:57"],
  "machine remove-nic": ["berth machine remove-nic web1 52:54:00:12:34:57"],
  "machine show": ["berth machine show web1", "berth machine show 192.168.50.30 -o yaml"],
  "machine release": ["berth machine release web1"],
  "import csv": ["berth import csv --dry-run machines.csv", "berth import csv --subnet 192.168.50.0/24 machines.csv"],
  "import dhcpd": ["berth import dhcpd --dry-run /etc/dhcp/dhcpd.conf"],
  "import maas": ["berth import maas --no-names machines.json"],
  "import netbox": ["berth import netbox --only-addressed devices.json addresses.json"],
  "import plan": ["berth import plan --dry-run plan.json"],
  "export csv": ["berth export csv > machines.csv"],
  "export json": ["berth export json --subnet 192.168.50.0/24 > machines.json"],
  "export ansible": ["berth export ansible > inventory.yaml"],
  "export hosts": ["berth export hosts >> hosts"],
  "export netplan": ["berth export netplan web1 > 50-berth.yaml"],
  "export cloud-init": ["berth export cloud-init web1 > network-config"],
  "allocation create": [
    "berth allocation create web1 --key pod-1",
    "berth allocation create web1 --key pod-2 --address 192.168.50.40 --name pod2",
  ],
  "allocation bulk": ["berth allocation bulk --dry-run items.json"],
  "allocation release": ["berth allocation release 192.168.50.40"],
  "allocation list": ["berth allocation list --kind additional", "berth allocation list --machine web1"],
  "lease list": ["berth lease list --mac 52:54 --in-use", "berth lease list --rack rack1 --state abandoned"],
  "rack show": ["berth rack show rack1"],
  "rack remove": ["berth rack remove rack1"],
  "vip create": ["berth vip create web1 web2 --name front"],
  "vip add-owner": ["berth vip add-owner front web3"],
  "vip remove-owner": ["berth vip remove-owner front web1"],
  "vip history": ["berth vip history 192.168.50.5"],
  "name list": ["berth name list --type CNAME", "berth name list --contains web --records"],
  "name create": ["berth name create www.rack1.example CNAME front.rack1.example"],
  "name remove": ["berth name remove 3"],
  "reservation list": ["berth reservation list --subnet 192.168.50.0/24"],
  "reservation create": ['berth reservation create 192.168.50.90 192.168.50.99 --note "old SAN"'],
  "reservation remove": ["berth reservation remove 3"],
  "audit list": ["berth audit list --action enroll-machine --limit 10", "berth audit list --actor admin -o json"],
  events: ["berth events --follow", "berth events --follow --since 120.4 -o json"],
  "token create": ["berth token create --rack rack1", "berth token create --rack rack1 --replace --ttl 1h"],
  "api-token create": ["berth api-token create monitoring --role read --ttl 30d"],
  "api-token revoke": ["berth api-token revoke monitoring"],
  completion: ["berth completion bash > /etc/bash_completion.d/berth"],
};

/** Ends the help of each command with its examples. */
export function addExamples(program: Command): void {
  const visit = (command: Command, path: readonly string[]): void => {
    const examples = EXAMPLES[path.join(" ")];
    if (examples !== undefined) command.addHelpText("after", `\nExamples:\n${examples.map((line) => `  ${line}\n`).join("")}`);
    for (const sub of command.commands) visit(sub, [...path, sub.name()]);
  };
  visit(program, []);
}
