import { z } from "zod";
import { apiProblemSchema } from "./error.js";

/** A problem that holds now, who reported it and since when. */
export const currentProblemSchema = z
  .object({
    source: z.enum(["region", "rack", "daemon", "plan", "topology"]),
    rack: z.string().nullable(),
    daemon: z.string().nullable(),
    since: z.string().meta({ description: "Since when this run of the coordinator sees it." }),
    ...apiProblemSchema.shape,
  })
  .meta({ id: "CurrentProblem" });
export type CurrentProblem = z.infer<typeof currentProblemSchema>;

export const healthViewSchema = z
  .object({ status: z.enum(["ok", "unready"]), problems: z.array(apiProblemSchema) })
  .meta({ id: "Health" });

export const versionViewSchema = z.object({ version: z.string(), api: z.string(), protocol: z.int() }).meta({ id: "Version" });
export type VersionView = z.infer<typeof versionViewSchema>;

/** One screen about the whole region. */
export const statusViewSchema = z
  .object({
    version: z.string(),
    now: z.string(),
    revision: z.int(),
    subnets: z.int(),
    allocations: z.int(),
    leasesInUse: z.int(),
    machines: z.object({ sighted: z.int(), enlisted: z.int(), enrolled: z.int(), released: z.int() }),
    racks: z.object({ all: z.int(), connected: z.int(), converged: z.int() }),
    problems: z.array(currentProblemSchema),
  })
  .meta({ id: "Status" });
export type StatusView = z.infer<typeof statusViewSchema>;
