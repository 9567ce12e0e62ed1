import { regionProblems, type FoundProblem } from "@berth/core";
import type { Files } from "@berth/host";
import type { CoordinatorConfig } from "../config.js";
import { createProblemWatch, type ProblemWatch } from "../topology/problem-watch.js";
import { createNotices, type Notices, type NoticesPorts } from "./create-notices.js";
import { readWebhooks } from "./read-webhooks.js";

export interface OpenNoticesPorts extends Omit<NoticesPorts, "problems" | "webhooks" | "toLog"> {
  readonly files: Files;
  /** All problems of the moment but those of the webhooks themselves. */
  readonly find: () => readonly FoundProblem[];
}

/** The problems that hold now, webhooks that fail among them, and those who are told of what happens; null when nobody is. Throws `webhook-secret-unusable`. */
export async function openNotices(
  config: CoordinatorConfig["notices"],
  { files, find, ...ports }: OpenNoticesPorts,
): Promise<{ readonly problems: ProblemWatch; readonly notices: Notices | null }> {
  const found = (): FoundProblem[] => [...find(), ...failing()];
  const problems = createProblemWatch(found, ports.clock);
  const webhooks = await readWebhooks(config, files);
  const notices = createNotices({ ...ports, webhooks, toLog: config.log, problems: () => problems.list() });
  const failing = (): FoundProblem[] => regionProblems(notices?.problems() ?? []);
  return { problems, notices };
}
