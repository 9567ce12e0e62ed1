import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { berthProgram } from "../../../test/lab/berth-region.js";
import { createLab, type Lab } from "../../../test/lab/lab.js";
import { namespacePrefix } from "../../../test/lab/run-directory.js";
import { FACTS, newStory } from "../../../test/scenario/facts.js";
import { buildStage, declareSubnet, SUBNET, type Stage } from "../../../test/scenario/stage.js";
import { Narrator } from "./narrator.js";

/** Status of a program that Ctrl-C ended. */
const INTERRUPTED = 130;

/** Brings the rack up, shows each fact, and stays until Ctrl-C unless it runs once. Resolves to the exit status. */
async function main(once: boolean): Promise<number> {
  const narrator = new Narrator((text) => void process.stdout.write(text), process.stdout.isTTY);
  const interrupted = new Promise<number>((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => resolve(INTERRUPTED));
  });
  const lab = await createLab({ name: "quickstart" });
  narrator.heading(`Bringing up a rack in network namespaces of its own: ${namespacePrefix(lab.id)}*`);
  const story = tellStory({ lab, narrator, once });
  try {
    return await Promise.race([story, interrupted]);
  } finally {
    narrator.end("taking everything down");
    await lab.close();
    await story.catch(() => undefined); // what was under way when everything was taken down has nothing more to say
  }
}

async function tellStory({ lab, narrator, once }: { lab: Lab; narrator: Narrator; once: boolean }): Promise<number> {
  const stage = await buildStage(lab, (line) => narrator.step(line));
  await declareSubnet(stage, (line) => narrator.step(line));
  const environment = writeEnvironment(stage);
  narrator.heading("What Berth promises, observed");
  narrator.say(`  (in another terminal, as root: . ${environment})\n`);
  const observed = await showFacts(stage, narrator);
  narrator.heading(`${observed} of ${FACTS.length} facts observed in ${narrator.elapsed()}`);
  if (observed < FACTS.length) return 1;
  if (once) return 0;
  narrator.say(invitation(stage, environment));
  return new Promise(() => undefined); // until Ctrl-C
}

async function showFacts(stage: Stage, narrator: Narrator): Promise<number> {
  const story = newStory();
  for (const [i, fact] of FACTS.entries()) {
    const place = { number: i + 1, of: FACTS.length };
    if (!(await narrator.fact(fact.title, place, () => fact.observe(stage, story)))) return i; // later facts rest on earlier ones
    narrator.command(fact.command(stage, story));
  }
  return FACTS.length;
}

function invitation({ rack, region, machines }: Stage, environment: string): string {
  return `
The rack stays up until you press Ctrl-C. In another terminal, as root:

  . ${environment}
  berth status
  berth machine list
  berth rack show rack1
  berth lease list
  ip netns exec ${rack.host.namespace} dig +short @${SUBNET.rack} web1.${SUBNET.domain}
  ip netns exec ${rack.host.namespace} berth-agent status --state ${rack.stateDir}
  ip -n ${machines[0].namespace} -4 address show dev eth0

  rack files    ${rack.stateDir}
  region files  ${region.dataDir}
`;
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
