import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { FACTS, newStory } from "./facts.js";
import { createStage, type Stage } from "./stage.js";

/** What the quickstart shows, as a test: one fact after the other on one rack. */
describe("one rack, end to end", () => {
  const story = newStory();
  let stage: Stage;
  beforeAll(async () => {
    stage = await createStage("path", () => undefined);
  });
  afterAll(() => stage.lab.close());

  for (const fact of FACTS) {
    it(fact.title, async () => {
      expect(await fact.observe(stage, story)).not.toBe("");
    });
  }
});
