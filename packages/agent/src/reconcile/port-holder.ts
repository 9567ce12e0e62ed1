import { createSocket } from "node:dgram";
import { createServer } from "node:net";
import type { Problem, IpAddress } from "@berth/core";
import { errnoOf, type Commands } from "@berth/host";

/** Is that port of this address taken by somebody else? Answers the problem with its holder, or null when it is free. */
export async function checkPortFree(
  commands: Commands,
  place: { readonly address: IpAddress | "0.0.0.0" | "::"; readonly port: number; readonly protocol: "udp" | "tcp" },
): Promise<Problem | null> {
  const errno = await (place.protocol === "udp" ? tryUdp(place.address, place.port) : tryTcp(place.address, place.port));
  if (errno === null || errno === "EADDRNOTAVAIL") return null;
  const at = `${place.protocol} ${place.address}:${place.port}`;
  if (errno === "EACCES" || errno === "EPERM") {
    return {
      code: "port-forbidden",
      at,
      message: `this user may not listen on port ${place.port}`,
      remedy: "run as root or grant CAP_NET_BIND_SERVICE",
    };
  }
  const holder = await portHolder(commands, place);
  return {
    code: "port-occupied",
    at,
    message: `${holder} already listens there`,
    remedy: "stop and disable that service; Berth runs its own",
  };
}

async function portHolder(
  commands: Commands,
  place: { readonly port: number; readonly protocol: "udp" | "tcp" },
): Promise<string> {
  const { stdout } = await commands.run(
    ["ss", "-H", "-l", "-n", "-p", place.protocol === "udp" ? "-u" : "-t", `sport = :${place.port}`],
    { timeoutMs: 5_000 },
  );
  const holder = /users:\(\("([^"]{1,64})",pid=(\d+)/.exec(stdout);
  return holder === null ? "another program" : `${holder[1]} (pid ${holder[2]})`;
}

function tryUdp(address: string, port: number): Promise<string | null> {
  return new Promise((resolve) => {
    const socket = createSocket({ type: address.includes(":") ? "udp6" : "udp4" });
    socket.once("error", (error) => socket.close(() => resolve(errnoOf(error))));
    socket.bind({ port, address, exclusive: true }, () => socket.close(() => resolve(null)));
  });
}

function tryTcp(address: string, port: number): Promise<string | null> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", (error) => resolve(errnoOf(error)));
    server.listen({ port, host: address, exclusive: true }, () => server.close(() => resolve(null)));
  });
}
