import type { Problem } from "../problem.js";
import type { DesiredState, DesiredSubnet } from "./schema.js";

/** The same networks, none of them to be served. */
export function observeOnly(state: DesiredState): DesiredState {
  return { ...state, subnets: state.subnets.map((subnet) => ({ ...subnet, mode: "observe", window: null, enlistment: null })) };
}

/** What the region wants of a rack that only observes; null when that is nothing. */
export function checkObserved(subnets: readonly Pick<DesiredSubnet, "prefix" | "mode">[]): Problem | null {
  const wanted = subnets.filter(({ mode }) => mode !== "off" && mode !== "observe").map(({ prefix }) => prefix);
  if (wanted.length === 0) return null;
  return {
    code: "observes-only",
    at: "mode",
    message: `the region wants DHCP served on ${wanted.slice(0, 5).join(", ")}${wanted.length > 5 ? ", ..." : ""}, and this agent only observes`,
    remedy: "set `mode: manage` in the agent's configuration, or the networks' mode to observe",
  };
}
