import { createSocket } from "node:dgram";
import { createServer } from "node:net";
import type { Problem, IpAddress } from "@berth/core";
import { errnoOf, type Clock, type Commands } from "@berth/host";

interface Place {
  readonly address: IpAddress | "0.0.0.0" | "::";
  readonly port: number;
  readonly protocol: "udp" | "tcp";
}

/** The socket of a process that was just ended may stay for a moment, and then is nobody's. */
const NOBODYS_MAX = 20;
const NOBODYS_PAUSE_MS = 50;

/** Is that port of this address taken by somebody else? Answers the problem with its holder, or null when it is free. */
export async function checkPortFree(
  { clock, commands }: { readonly clock: Clock; readonly commands: Commands },
  place: Place,
): Promise<Problem | null> {
  for (let n = 1; ; n++) {
    const taken = await lookAtPort(commands, place);
    if (taken?.holder !== null || n >= NOBODYS_MAX) return taken?.problem ?? null;
    await clock.sleep(NOBODYS_PAUSE_MS);
  }
}

/** Null when it is free; the holder is null where none is to be found. */
async function lookAtPort(
  commands: Commands,
  place: Place,
): Promise<{ readonly holder: string | null; readonly problem: Problem } | null> {
  const errno = await (place.protocol === "udp" ? tryUdp(place.address, place.port) : tryTcp(place.address, place.port));
  if (errno === null || errno === "EADDRNOTAVAIL") return null;
  const at = `${place.protocol} ${place.address}:${place.port}`;
  if (errno === "EACCES" || errno === "EPERM") {
    const message = `this user may not listen on port ${place.port}`;
    return {
      holder: "ourselves",
      problem: { code: "port-forbidden", at, message, remedy: "run as root or grant CAP_NET_BIND_SERVICE" },
    };
  }
  const holder = await portHolder(commands, place);
  const message = `${holder ?? "another program"} already listens there`;
  const remedy = "stop and disable that service; Berth runs its own";
  return { holder, problem: { code: "port-occupied", at, message, remedy } };
}

async function portHolder(
  commands: Commands,
  place: { readonly port: number; readonly protocol: "udp" | "tcp" },
): Promise<string | null> {
  const { stdout } = await commands.run(
    ["ss", "-H", "-l", "-n", "-p", place.protocol === "udp" ? "-u" : "-t", `sport = :${place.port}`],
    { timeoutMs: 5_000 },
  );
  const holder = /users:\(\("([^"]{1,64})",pid=(\d+)/.exec(stdout);
  return holder === null ? null : `${holder[1]} (pid ${holder[2]})`;
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
