import { destroyLab } from "./run-directory.js";

const labs = new Set<string>();
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
let installed = false;

/** Removes this lab when this process exits, also by a signal or an uncaught error. SIGKILL alone leaves it to `reapStaleLabs`. */
export function endOnExit(labId: string): void {
  labs.add(labId);
  if (installed) return;
  installed = true;
  process.on("exit", destroyAll);
  for (const signal of SIGNALS) process.on(signal, onSignal);
}

export function forgetOnExit(labId: string): void {
  labs.delete(labId);
}

/** An owner with a listener of its own ends in its own order and closes its labs itself; otherwise the signal does what it always does. */
function onSignal(signal: NodeJS.Signals): void {
  if (process.listenerCount(signal) > 1) return;
  destroyAll();
  for (const each of SIGNALS) process.removeListener(each, onSignal);
  process.kill(process.pid, signal);
}

function destroyAll(): void {
  for (const id of labs) {
    labs.delete(id);
    destroyLab(id);
  }
}
