import type { Command } from "commander";
import {
  adoptPlanSchema,
  finishRows,
  type AdoptedSubnet,
  type AdoptFinding,
  issueText,
  type AdoptPlan,
  type Problem,
  type SubnetCreate,
  printable,
} from "@berth/core";
import type { CliContext } from "../cli-context.js";
import { CliFailure, EXIT_REFUSED } from "../cli-failure.js";
import { withProgress } from "../output/progress.js";
import { readImportFile } from "../transfer/read-import.js";
import { sendImport } from "../transfer/send-import.js";
import { showImported } from "./import.js";

interface PlanFlags {
  readonly dryRun?: boolean;
  readonly domain?: string;
  readonly site?: string;
  readonly names: boolean;
  readonly onlyAddressed?: boolean;
}

/** Adds `berth import plan`, which takes what `berth-agent adopt --json` printed: subnets and machines, all of it or nothing. */
export function importPlanCommand(parent: Command, context: CliContext): void {
  parent
    .command("plan")
    .description("what 'berth-agent adopt --json' made of a dhcpd.conf: its subnets and its machines")
    .argument("<file>", "the plan")
    .option("--dry-run", "let the coordinator decide, and change nothing")
    .option("--domain <name>", "domain of the subnets for which the dhcpd.conf names none")
    .option("--site <name>", "site of the subnets")
    .option("--no-names", "drop the names: machines get the pre-made names of their addresses")
    .option("--only-addressed", "leave out machines without an address")
    .action((file: string, flags: PlanFlags) => runImportPlan(context, file, flags));
}

async function runImportPlan(context: CliContext, file: string, flags: PlanFlags): Promise<void> {
  const plan = await readPlan(context, file);
  const client = await context.connect();
  for (const finding of plan.withoutCounterpart) context.note(`no counterpart: ${described(finding)}`);
  const { names, onlyAddressed = false } = flags;
  const reading = finishRows({ rows: plan.machines, refusals: [], skipped: [] }, { names, onlyAddressed, subnet: null });
  for (const { at, message } of reading.skipped) context.note(`left out: ${printable(at)}: ${printable(message)}`);
  const unreadable = plan.unreadable.map(({ at, why }): Problem => ({ code: "plan-unreadable", at, message: why }));
  const nameless = plan.subnets.filter(({ domain }) => domain === null && flags.domain === undefined).map(domainMissing);
  const refusals = [...unreadable, ...nameless];
  const order = {
    // One that has no domain is asked about all the same, under a name nobody has: the report then names every other reason too.
    subnets: plan.subnets.map((subnet) => ({ at: subnet.at, request: subnetRequest(subnet, flags) })),
    rows: reading.rows,
    dryRun: flags.dryRun === true || refusals.length > 0,
  };
  const asking = `asking the coordinator about ${order.subnets.length} subnets and ${order.rows.length} machines`;
  const answer = await withProgress(context.ports.stderr, asking, sendImport(client, order));
  const problems = [...refusals, ...(answer.kind === "refused" ? answer.problems : [])];
  if (problems.length > 0 || answer.kind !== "accepted") {
    context.note(`${order.subnets.length} subnets and ${order.rows.length} machines read; nothing was imported`);
    throw new CliFailure(EXIT_REFUSED, problems);
  }
  showImported(context, answer.view);
}

async function readPlan(context: CliContext, file: string): Promise<AdoptPlan> {
  const { text } = await readImportFile(context.ports, file);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    value = null; // said below, as of any other thing that is no plan
  }
  const plan = adoptPlanSchema.safeParse(value);
  if (plan.success) return plan.data;
  const [issue] = plan.error.issues;
  const message = `it is no plan of berth-agent adopt: ${issue?.path.join(".") ?? ""} ${issue === undefined ? "" : issueText(issue)}`;
  throw new CliFailure(EXIT_REFUSED, [
    { code: "plan-invalid", at: file, message, remedy: "make it with `berth-agent adopt --json`" },
  ]);
}

function subnetRequest(subnet: AdoptedSubnet, { domain, site }: PlanFlags): SubnetCreate {
  const { dhcp, dns, enlistment, gateway, leaseTime, maxLeaseTime, mode, ntp, prefix, reserved, window } = subnet;
  return {
    prefix,
    ...(site === undefined ? {} : { site }),
    domain: subnet.domain ?? domain ?? UNNAMED,
    ...{ mode, gateway, window, reserved, dns, ntp, leaseTime, maxLeaseTime, dhcp },
    ...(enlistment === null ? {} : { enlistment }),
  };
}

/** RFC 2606 §2. */
const UNNAMED = "unnamed.invalid";

function domainMissing({ at, prefix }: AdoptedSubnet): Problem {
  const message = `${prefix} has no domain in the dhcpd.conf`;
  return { code: "domain-missing", at, message, remedy: "give one with --domain" };
}

function described({ at, text, why }: AdoptFinding): string {
  return printable([at, text, why].filter((part) => part !== "").join(": "));
}
