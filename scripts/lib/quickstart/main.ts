import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { berthProgram } from "../../../test/lab/berth-region.js";
import { createLab } from "../../../test/lab/lab.js";
import { FACTS, newStory } from "../../../test/scenario/facts.js";
import { buildStage, declareSubnet, SUBNET, type Stage } from "../../../test/scenario/stage.js";
import { Narrator } from "./narrator.js";

/** Brings the rack up, shows each fact, and stays until Ctrl-C unless it runs once. Resolves to the exit status. */
async function main(once: boolean): Promise<number> {
  const narrator = new Narrator((text) => void process.stdout.write(text), process.stdout.isTTY);
  const interrupted = new Promise<void>((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => resolve());
  });
  narrator.heading("Bringing up a rack in network namespaces of its own");
  const lab = await createLab({ name: "quickstart" });
  try {
    const stage = await buildStage(lab, (line) => narrator.step(line));
    await declareSubnet(stage, (line) => narrator.step(line));
    const environment = writeEnvironment(stage);
    narrator.heading("What Berth promises, observed");
    narrator.say(`  (in another terminal, as root: . ${environment})\n`);
    const observed = await showFacts(stage, narrator, interrupted);
    narrator.heading(`${observed} of ${FACTS.length} facts observed in ${narrator.elapsed()}`);
    if (!once && observed === FACTS.length) await stayUp(stage, narrator, { environment, interrupted });
    return observed === FACTS.length ? 0 : 1;
  } finally {
    narrator.step("taking everything down");
    await lab.close();
  }
}

async function showFacts(stage: Stage, narrator: Narrator, interrupted: Promise<void>): Promise<number> {
  const story = newStory();
  let stop = false;
  const stopped = interrupted.then(() => (stop = true));
  let observed = 0;
  for (const [i, fact] of FACTS.entries()) {
    const place = { number: i + 1, of: FACTS.length };
    const shown = narrator.fact(fact.title, place, () => fact.observe(stage, story));
    const seen = await Promise.race([shown, stopped.then(() => false)]);
    if (stop) return observed;
    if (!seen) return observed; // later facts rest on earlier ones
    narrator.command(fact.command(stage, story));
    observed++;
  }
  return observed;
}

async function stayUp(
  stage: Stage,
  narrator: Narrator,
  stay: { environment: string; interrupted: Promise<void> },
): Promise<void> {
  const { rack, region, machines } = stage;
  narrator.say(`
The rack stays up until you press Ctrl-C. In another terminal, as root:

  . ${stay.environment}
  berth status
  berth machine list
  berth rack show rack1
  berth lease list
  ip netns exec ${rack.host.namespace} dig +short @${SUBNET.rack} web1.${SUBNET.domain}
  ip netns exec ${rack.host.namespace} berth-agent status --state ${rack.stateDir}
  ip -n ${machines[0].namespace} -4 address show dev eth0

  rack files    ${rack.stateDir}
  region files  ${region.dataDir}
`);
  await stay.interrupted;
}

/** A file to source: the programs on the PATH and `berth` pointed at this region. */
function writeEnvironment({ lab, region }: Stage): string {
  const path = join(lab.directory, "env");
  const variables = { ...region.environment, PATH: `${dirname(berthProgram("berth"))}:$PATH` };
  writeFileSync(
    path,
    Object.entries(variables)
      .map(([name, value]) => `export ${name}="${value}"\n`)
      .join(""),
  );
  return path;
}

process.exitCode = await main(process.argv.includes("--once"));
