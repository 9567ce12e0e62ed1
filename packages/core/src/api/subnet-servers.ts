import { z } from "zod";

/** The servers that machines of a subnet are given now: pinned ones, or what was decided for the racks that serve it. */
export const subnetServersViewSchema = z
  .object({ dns: z.array(z.string()), ntp: z.array(z.string()) })
  .meta({ id: "SubnetServers" });
export type SubnetServersView = z.infer<typeof subnetServersViewSchema>;
