import { createServer } from "node:net";
import { EnvironmentError, errnoOf } from "./errors.js";
import { sha256 } from "./digest.js";

/**
 * Claims a folder for this process until it ends, however it ends: an abstract socket (unix(7)) is gone with its owner, so there is no lock
 * file to be left behind. It holds within one network namespace. Throws `already-running`.
 */
export async function claimExclusively(path: string, what: string): Promise<() => void> {
  const server = createServer((socket) => socket.destroy());
  await new Promise<void>((resolve, reject) => {
    server.once("error", (cause) => {
      reject(
        errnoOf(cause) === "EADDRINUSE"
          ? new EnvironmentError("already-running", path, `another ${what} runs on ${path}`, {
              remedy: `stop it first, or give this one a folder of its own`,
            })
          : new EnvironmentError("claim-failed", path, `failed to claim ${path}`, { cause }),
      );
    });
    server.listen(`\0berth-${sha256(path).slice(0, 40)}`, resolve);
  });
  server.unref();
  return () => server.close();
}
