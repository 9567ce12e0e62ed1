import { createSocket } from "node:dgram";

export const DHCP6_CLIENT_PORT = 546;
export const DHCP6_SERVER_PORT = 547;
/** All_DHCP_Relay_Agents_and_Servers (RFC 8415 §7.1). */
export const DHCP6_SERVERS = "ff02::1:2";

/** The address that the kernel speaks from on that link; nothing is sent. Rejects with the system's error where it has none. */
export function ownLinkLocal(link: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = createSocket({ type: "udp6" });
    socket.once("error", (cause) => socket.close(() => reject(cause)));
    socket.connect(DHCP6_SERVER_PORT, `${DHCP6_SERVERS}%${link}`, () => {
      const { address } = socket.address();
      socket.close(() => resolve(withoutZone(address)));
    });
  });
}

export function withoutZone(address: string): string {
  return address.split("%")[0] ?? address;
}
