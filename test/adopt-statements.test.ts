import { fc, test } from "@fast-check/vitest";
import { describe, expect } from "vitest";
import { adoptDhcpdConf } from "@berth/core";

/** Each has a number in it that is nowhere else in the file, by which it is found again in the plan. */
const SETTINGS = {
  "interface-mtu": (n: number) => `option interface-mtu ${n};`,
  "domain-search": (n: number) => `option domain-search "d${n}.example";`,
  "root-path": (n: number) => `option root-path "/srv/x-${n}";`,
  "time-offset": (n: number) => `option time-offset ${n};`,
  "log-servers": (n: number) => `option log-servers 10.250.${n >> 8}.${n & 255};`,
  "default-lease-time": (n: number) => `default-lease-time ${n};`,
  "min-lease-time": (n: number) => `min-lease-time ${n};`,
  "next-server": (n: number) => `next-server 10.251.${n >> 8}.${n & 255};`,
  filename: (n: number) => `filename "f-${n}";`,
  filename7: (n: number) => `if option arch = 00:07 { filename "x-${n}"; }`,
  "unknown-condition": (n: number) => `if known { filename "k-${n}"; }`,
  "www-server": (n: number) => `option www-server 10.252.${n >> 8}.${n & 255};`,
  frobnicate: (n: number) => `frobnicate ${n};`,
  "server-name": (n: number) => `server-name "s-${n}";`,
} as const;
type Setting = keyof typeof SETTINGS;
const setting = fc.constantFrom(...(Object.keys(SETTINGS) as Setting[]));

interface Scope {
  readonly kind: "file" | "shared-network" | "group" | "subnet" | "pool" | "host";
  readonly settings: readonly Setting[];
  readonly inner: readonly Scope[];
}

const few = fc.array(setting, { maxLength: 4 });
const scope = (kind: Scope["kind"], inner: fc.Arbitrary<readonly Scope[]>): fc.Arbitrary<Scope> =>
  fc.record({ kind: fc.constant(kind), settings: few, inner });
const none = fc.constant([]);
const list = (arbitrary: fc.Arbitrary<Scope>, maxLength: number): fc.Arbitrary<readonly Scope[]> =>
  fc.array(arbitrary, { maxLength });
const host = scope("host", none);
const hosts = scope("group", list(host, 2));
const subnet = scope("subnet", list(fc.oneof(host, hosts, scope("pool", none)), 3));
const file = scope(
  "file",
  list(fc.oneof(subnet, scope("shared-network", list(subnet, 2)), hosts, scope("group", list(fc.oneof(subnet, host), 2))), 4),
);

interface Written {
  readonly name: Setting;
  readonly number: number;
  readonly line: number;
  readonly path: readonly Scope[];
}

/** A statement a line; blocks begin and end on lines of their own. */
function write(root: Scope): {
  readonly text: string;
  readonly written: readonly Written[];
  readonly subnets: readonly (readonly Scope[])[];
} {
  const lines = ["option arch code 93 = unsigned integer 16;", 'option domain-name "a.example";'];
  const written: Written[] = [];
  const subnets: (readonly Scope[])[] = [];
  let count = 0;
  const into = (it: Scope, path: readonly Scope[]): void => {
    const here = [...path, it];
    const n = ++count;
    if (it.kind === "subnet") {
      subnets.push(here);
      lines.push(`subnet 10.${n}.0.0 netmask 255.255.0.0 {`, `range 10.${n}.1.1 10.${n}.1.9;`);
    } else if (it.kind === "host") {
      lines.push(`host h${n} {`, `hardware ethernet 02:00:00:00:00:${n.toString(16).padStart(2, "0")};`);
    } else if (it.kind !== "file") lines.push(it.kind === "shared-network" ? `shared-network w${n} {` : `${it.kind} {`);
    for (const name of it.settings) {
      const number = 2000 + written.length;
      lines.push(SETTINGS[name](number));
      written.push({ name, number, line: lines.length, path: here });
    }
    for (const inner of it.inner) into(inner, here);
    if (it.kind !== "file") lines.push("}");
  };
  into(root, []);
  return { text: lines.join("\n"), written, subnets };
}

/** Whether another statement takes the effect of this one from every subnet that it would reach (dhcpd.conf(5), scopes: inner over outer, later over earlier). */
function isWithoutEffect(it: Written, written: readonly Written[], subnets: readonly (readonly Scope[])[]): boolean {
  const [own] = it.path.slice(-1);
  const reached = subnets.filter((path) => own !== undefined && path.includes(own));
  const over = it.name === "filename7" ? ["filename", "filename7"] : [it.name];
  return reached.every((path) =>
    written.some((other) => {
      if (!over.includes(other.name) || other === it || !other.path.every((one, at) => path[at] === one)) return false;
      return other.path.length > it.path.length || (other.path.length === it.path.length && other.line > it.line);
    }),
  );
}

function numberIn(name: Setting, number: number): RegExp {
  const isAddress = ["log-servers", "next-server", "www-server"].includes(name);
  return isAddress ? new RegExp(`10\\.25\\d\\.${number >> 8}\\.${number & 255}\\b`) : new RegExp(`(?<![\\d.])${number}(?!\\d)`);
}

describe("every statement of a dhcpd.conf", () => {
  test.prop([file], { numRuns: 300 })("is in the plan, in the list, or set over by another", (root) => {
    const { subnets, text, written } = write(root);
    const plan = adoptDhcpdConf("f", () => text);
    expect(plan.unreadable).toEqual([]);
    const listed = new Set(plan.withoutCounterpart.map(({ at }) => at));
    const taken = JSON.stringify(plan.subnets.map(({ at: _, ...subnetOfPlan }) => subnetOfPlan));
    for (const it of written) {
      const [own] = it.path.slice(-1);
      const isForAll =
        own?.kind === "file" || (subnets.length > 0 && subnets.every((path) => own !== undefined && path.includes(own)));
      // A machine may turn up in a subnet outside of its group.
      const isMachine =
        own?.kind === "host" || (!isForAll && own?.kind === "group" && own.inner.some(({ kind }) => kind === "host"));
      const isSeen = listed.has(`f:${it.line}`) || numberIn(it.name, it.number).test(taken);
      const isOver = !isMachine && own?.kind !== "pool" && isWithoutEffect(it, written, subnets);
      expect(isSeen || isOver, `line ${it.line} of\n${text}\n${JSON.stringify(plan, null, 1)}`).toBe(true);
    }
  });
});
