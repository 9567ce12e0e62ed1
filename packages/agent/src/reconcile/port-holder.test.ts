import { createSocket, type Socket } from "node:dgram";
import { once } from "node:events";
import { ipAddress } from "@berth/core";
import type { Clock, CommandResult, Commands } from "@berth/host";
import { afterEach, beforeEach, expect, it } from "vitest";
import { checkPortFree } from "./port-holder.js";

let socket: Socket;
let port: number;
beforeEach(async () => {
  socket = createSocket("udp4");
  socket.bind({ port: 0, address: "127.0.0.1", exclusive: true });
  await once(socket, "listening");
  port = socket.address().port;
});
let isOpen = true;
function free(): void {
  if (isOpen) socket.close();
  isOpen = false;
}
afterEach(free);

/** `ss` that finds this holder, and tells how often it was asked. */
function seeing(holder: string, onAsked: (times: number) => void): Commands {
  let times = 0;
  const stdout = holder === "" ? "" : `UNCONN 0 0 127.0.0.1:${port} 0.0.0.0:* users:((${holder}))`;
  const run = (): Promise<CommandResult> => (onAsked(++times), Promise.resolve({ status: 0, signal: null, stdout, stderr: "" }));
  return { run };
}

it("names who has the port at once, waits for a socket that is nobody's, and gives up when it stays", async () => {
  const clock = { sleep: () => Promise.resolve() } as unknown as Clock;
  let asked = 0;
  const check = (holder: string, freeAt: number): ReturnType<typeof checkPortFree> => {
    const commands = seeing(holder, (times) => {
      asked = times;
      if (times === freeAt) free();
    });
    return checkPortFree({ clock, commands }, { address: ipAddress("127.0.0.1"), port, protocol: "udp" });
  };
  expect([(await check('"dhcpd",pid=7,fd=3', 0))?.message, asked]).toEqual(["dhcpd (pid 7) already listens there", 1]);
  expect((await check("", 0))?.message).toBe("another program already listens there");
  expect(asked).toBeGreaterThan(5);
  expect(await check("", 3)).toBeNull();
  expect(asked).toBe(3);
});
