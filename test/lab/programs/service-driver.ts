// For the contract of the service drivers: one of them, driven by JSON lines on standard input, [number, method, ...arguments], and answering by lines,
// [number, result] or [number, null, { code }].
import { createInterface } from "node:readline";
import {
  createSupervisedDriver,
  createSystemdDriver,
  EnvironmentError,
  systemClock,
  systemCommands,
  systemFiles,
  type ServiceDriver,
  type ServiceSpec,
} from "@berth/host";

const [kind, folder = ""] = process.argv.slice(2);
const driver: ServiceDriver =
  kind === "systemd"
    ? createSystemdDriver(folder, { files: systemFiles, commands: systemCommands })
    : createSupervisedDriver(folder, systemClock);

function call(method: string, [what, more]: readonly unknown[]): Promise<unknown> {
  if (method === "find") return driver.find(what as string);
  if (method === "start") return driver.start(what as ServiceSpec, more as string);
  return driver.stop(what as string, more as number | undefined).then(() => null);
}

createInterface({ input: process.stdin }).on("line", (line) => {
  const [number, method, ...args] = JSON.parse(line) as [number, string, ...unknown[]];
  call(method, args).then(
    (result) => console.log(JSON.stringify([number, result])),
    (error: unknown) => {
      const code = error instanceof EnvironmentError ? error.code : String(error);
      console.log(JSON.stringify([number, null, { code }]));
    },
  );
});
console.log("ready");
