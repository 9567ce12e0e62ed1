import type { IpAddress } from "@berth/core";
import { EnvironmentError, type Commands } from "@berth/host";

/** What the wire says of an address: somebody answers, nobody does, or it could not be asked. */
export type WireAnswer = "answered" | "silent" | "unknown";

/** Asks the wire of an interface who has an address. */
export type AskWire = (link: string, address: IpAddress) => Promise<WireAnswer>;

/** iputils' arping answers ICMP-deaf holders too. Another program of that name has other options, so it is told apart by its version line. */
export function createWireAsker(commands: Commands): AskWire {
  return async (link, address) => {
    try {
      const { stdout } = await commands.run(["arping", "-V"], { timeoutMs: 5_000 });
      if (!stdout.includes("iputils")) return "unknown";
      const argv = ["arping", "-q", "-f", "-c", "2", "-w", "2", "-I", link, address] as const;
      const { status } = await commands.run(argv, { timeoutMs: 10_000 });
      return status === 0 ? "answered" : status === 1 ? "silent" : "unknown";
    } catch (error) {
      if (error instanceof EnvironmentError) return "unknown"; // it is not installed, or hangs: the lease is waited out
      throw error;
    }
  };
}
