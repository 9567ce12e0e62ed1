import type { ServiceDriver } from "@berth/host";
import type { Running } from "../running.js";

/** A driver that runs elsewhere, as programs/service-driver.ts; its failures are errors with the code as message. */
export function proxyDriver(program: Running): ServiceDriver {
  let number = 0;
  const call = async (method: string, ...args: readonly unknown[]): Promise<unknown> => {
    const id = ++number;
    program.child.stdin?.write(`${JSON.stringify([id, method, ...args])}\n`);
    const line = await program.waitForLine(new RegExp(`^\\[${id},`), { deadlineMs: 60_000 });
    const [, result, failure] = JSON.parse(line) as [number, unknown, { readonly code: string }?];
    if (failure !== undefined) throw new Error(failure.code);
    return result;
  };
  return {
    find: (name) => call("find", name) as ReturnType<ServiceDriver["find"]>,
    start: (spec, tag) => call("start", spec, tag) as ReturnType<ServiceDriver["start"]>,
    stop: async (name, graceMs) => {
      await call("stop", name, graceMs);
    },
  };
}
