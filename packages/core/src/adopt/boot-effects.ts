import type { ConfWord } from "../import/conf-statements.js";
import { BOOT_CLIENTS, type BootClient } from "./boot-clients.js";
import { parseBootCondition, type BootCondition } from "./boot-condition.js";
import { keyword, type ConfNode } from "./conf-tree.js";
import type { Definitions } from "./definitions.js";
import type { Findings } from "./findings.js";
import { settingName, settingValues } from "./settings.js";

/** What a file makes of one machine's boot. Each null until a statement sets it. */
export interface BootEffect {
  file: ConfNode | null;
  server: ConfNode | null;
  /** `default-url`, which ONIE asks for. */
  installer: ConfNode | null;
}

export type BootEffects = ReadonlyMap<BootClient, BootEffect>;

/** One statement of a block: what it sets, or the branches of a condition. */
type Step =
  | { readonly kind: "set"; readonly name: keyof BootEffect; readonly node: ConfNode }
  | {
      readonly kind: "choice";
      readonly branches: readonly { readonly when: BootCondition | null; readonly steps: readonly Step[] }[];
    };

const SETTERS: Readonly<Record<string, keyof BootEffect>> = {
  filename: "file",
  "next-server": "server",
  "option default-url": "installer",
};

const NOT_UNDERSTOOD = "its condition is not understood word for word, so nothing that hangs on it is taken over";

/** Reads what the blocks of a file do to machines that boot, each block once. */
export class BootReader {
  private readonly steps = new Map<ConfNode, readonly Step[]>();
  private readonly classes: Step[] = [];
  private readonly definitions: Definitions;
  private readonly findings: Findings;

  constructor(definitions: Definitions, findings: Findings) {
    this.definitions = definitions;
    this.findings = findings;
  }

  /** `class "x" { match if CONDITION; ... }` holds for the whole file, wherever it stands. */
  addClass(node: ConfNode): void {
    const body = node.body ?? [];
    const matches = body.filter((child) => keyword(child.words[0]) === "match");
    const [match] = matches;
    const when =
      match !== undefined && matches.length === 1 && keyword(match.words[1]) === "if"
        ? parseBootCondition(match.words.slice(2), this.definitions)
        : null;
    if (when === null) this.findings.add(node, NOT_UNDERSTOOD);
    else
      this.classes.push({
        kind: "choice",
        branches: [
          {
            when,
            steps: this.read(
              body.filter((child) => child !== match),
              true,
            ),
          },
        ],
      });
  }

  /** For machines of a subnet: outer blocks first, then the subnet, then the classes, each over what was set before. */
  effects(subnet: ConfNode): BootEffects {
    const scopes: ConfNode[] = [];
    for (let scope: ConfNode | null = subnet; scope !== null; scope = scope.outer) scopes.unshift(scope);
    const steps = scopes.flatMap((scope) => this.ofScope(scope));
    return new Map(
      BOOT_CLIENTS.map((client) => {
        const effect: BootEffect = { file: null, server: null, installer: null };
        run(steps, client, effect);
        this.runClasses(client, effect);
        return [client, effect];
      }),
    );
  }

  /** Of two classes that set the same, which one wins is nothing to rely on. */
  private runClasses(client: BootClient, effect: BootEffect): void {
    const set = new Map<keyof BootEffect, ConfNode>();
    for (const one of this.classes) {
      const own: BootEffect = { file: null, server: null, installer: null };
      run([one], client, own);
      for (const name of ["file", "server", "installer"] as const) {
        const [node, before] = [own[name], set.get(name)];
        if (node === null) continue;
        if (before !== undefined && settingValues(before).join() !== settingValues(node).join())
          this.findings.add(node, `another class sets it for ${client.kind}, too`);
        set.set(name, node);
        effect[name] = node;
      }
    }
  }

  private ofScope(scope: ConfNode): readonly Step[] {
    const known = this.steps.get(scope);
    if (known !== undefined) return known;
    const steps = this.read(scope.body ?? [], false);
    this.steps.set(scope, steps);
    return steps;
  }

  /** `inner`: in a condition or a class, where a statement of any other kind would be lost unseen. */
  private read(body: readonly ConfNode[], inner: boolean): Step[] {
    const steps: Step[] = [];
    for (let at = 0; at < body.length; at++) {
      const node = body[at];
      if (node === undefined) break;
      const setter = node.body === null ? SETTERS[settingName(node.words)] : undefined;
      if (setter !== undefined) steps.push({ kind: "set", name: setter, node });
      else if (isBranch(node, "if")) {
        const ladder = ladderAt(body, at);
        steps.push(...this.ladder(ladder));
        at += ladder.length - 1;
      } else if (inner && !isOfHttpOffer(node)) this.findings.add(node, "only what machines load is told by their kind");
      else if (isBranch(node, "elsif") || isBranch(node, "else")) this.findings.add(node, "it follows no condition");
    }
    return steps;
  }

  private ladder(nodes: readonly ConfNode[]): Step[] {
    const branches = nodes.map((node) => {
      const words = conditionOf(node);
      return {
        node,
        when: words === null ? null : parseBootCondition(words, this.definitions),
        understood: words === null,
      };
    });
    if (branches.some(({ understood, when }) => !understood && when === null)) {
      for (const { node } of branches) this.findings.add(node, NOT_UNDERSTOOD);
      return [];
    }
    return [{ kind: "choice", branches: branches.map(({ node, when }) => ({ when, steps: this.read(node.body ?? [], true) })) }];
  }
}

function run(steps: readonly Step[], client: BootClient, effect: BootEffect): void {
  for (const step of steps) {
    if (step.kind === "set") effect[step.name] = step.node;
    else run(step.branches.find(({ when }) => when === null || when(client))?.steps ?? [], client, effect);
  }
}

function isBranch({ body, words }: ConfNode, name: string): boolean {
  return body !== null && keyword(words[0]) === name;
}

/** The `if` and all that follows it as its other branches. */
function ladderAt(body: readonly ConfNode[], at: number): ConfNode[] {
  const ladder = body.slice(at, at + 1);
  for (const node of body.slice(at + 1)) {
    if (!isBranch(node, "elsif") && !isBranch(node, "else")) break;
    ladder.push(node);
    if (conditionOf(node) === null) break;
  }
  return ladder;
}

/** Null for a plain `else`. */
function conditionOf({ words }: ConfNode): readonly ConfWord[] | null {
  if (keyword(words[0]) !== "else") return words.slice(1);
  return keyword(words[1]) === "if" ? words.slice(2) : null;
}

/** What firmware must hear to take an offer for HTTP boot (UEFI 2.10 §24.7.3.1); Berth says it with every URL for such firmware. */
function isOfHttpOffer(node: ConfNode): boolean {
  const name = settingName(node.words);
  const values = settingValues(node);
  if (node.body !== null) return false;
  if (name === "option vendor-class-identifier") return values.join() === "HTTPClient";
  const appended = values.join(" ").replace(/\s+/g, "").toLowerCase();
  return name === "option dhcp-parameter-request-list" && appended === "=concat(optiondhcp-parameter-request-list3c)";
}
