import type { RackLinks } from "@berth/core";
import { describe, expect, it } from "vitest";
import { goldenCases, goldenFiles, renderedFiles, writeFiles } from "./golden-cases.js";

/** The places that the golden files name; no such folder need exist. */
const places = {
  paths: {
    directory: "/var/lib/berth-agent/named",
    zones: "/var/lib/berth-agent/named/zones",
    key: "/var/lib/berth-agent/named/rndc.key",
  },
  port: 53,
  controlPort: 953,
};

describe("golden files: what a rack renders", () => {
  it.each(goldenCases())("$name", (golden) => {
    const rendered = renderedFiles(golden, places);
    if (process.env.UPDATE_GOLDEN === "1") writeFiles(golden.folder, rendered);
    expect(rendered).toEqual(goldenFiles(golden.folder));
  });

  it.each(goldenCases())("$name: the generation and the order of the lists leave no trace", (golden) => {
    const { desired, links } = golden;
    const shuffled = {
      ...desired,
      generation: desired.generation + 41,
      subnets: desired.subnets.toReversed().map(({ excludedRanges, ...subnet }) => ({
        ...subnet,
        hosts: subnet.hosts.toReversed(),
        excluded: subnet.excluded.toReversed(),
        ...(excludedRanges === undefined ? {} : { excludedRanges: excludedRanges.toReversed() }),
      })),
      zones: desired.zones
        .toReversed()
        .map((zone) => ({ ...zone, records: zone.records.toReversed(), premade: zone.premade.toReversed() })),
      queryFrom: desired.queryFrom.toReversed(),
    };
    const again = renderedFiles({ ...golden, desired: shuffled, links: reversed(links) }, places);
    expect(again).toEqual(renderedFiles(golden, places));
  });
});

function reversed({ links, relays }: RackLinks): RackLinks {
  return { links: links.toReversed(), ...(relays === undefined ? {} : { relays: relays.toReversed() }) };
}
