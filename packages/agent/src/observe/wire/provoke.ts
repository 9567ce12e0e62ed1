import { createSocket } from "node:dgram";
import { addressFamily, type IpAddress } from "@berth/core";
import { describeError, EnvironmentError } from "@berth/host";

/** RFC 863: whoever has the address and gets the datagram throws it away. */
const DISCARD_PORT = 9;

/**
 * Makes the kernel ask who has these addresses, by a datagram for each (ARP, NDP): it cannot send before it knows. `source` is this host's own address on the link,
 * so that the datagram leaves there. An address that cannot be reached is no failure: the neighbour table will say so.
 */
export async function provokeResolution(source: IpAddress, targets: readonly IpAddress[], interfaceName: string): Promise<void> {
  const socket = createSocket(addressFamily(source) === 4 ? "udp4" : "udp6");
  try {
    await new Promise<void>((resolve, reject) => {
      socket.once("error", reject);
      socket.bind(0, source, resolve);
    });
    socket.on("error", () => undefined); // an earlier datagram came back as unreachable
    await Promise.all(
      targets.map(
        (target) =>
          new Promise<void>((resolve) =>
            socket.send(new Uint8Array(1), DISCARD_PORT, zoned(target, interfaceName), () => resolve()),
          ),
      ),
    );
  } catch (error) {
    const remedy = "the address left this host a moment ago; it is tried again";
    throw new EnvironmentError("wire-unreachable", source, `no datagram can be sent: ${describeError(error)}`, { remedy });
  } finally {
    socket.close();
  }
}

/** Of link-local addresses every link has its own (RFC 4007 §11). */
function zoned(address: IpAddress, interfaceName: string): string {
  return address.startsWith("fe80:") ? `${address}%${interfaceName}` : address;
}
