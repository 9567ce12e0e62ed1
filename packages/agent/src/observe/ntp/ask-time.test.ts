import { createSocket, type Socket } from "node:dgram";
import { once } from "node:events";
import { ipAddress } from "@berth/core";
import { afterEach, describe, expect, it } from "vitest";
import { askTime } from "./ask-time.js";

const HOST = ipAddress("127.0.0.1");
let server: Socket | null = null;
afterEach(() => {
  server?.close();
  server = null;
});

/** A server that answers with these changes to a right answer. */
async function serve(answer: (packet: Buffer) => Buffer | null): Promise<number> {
  const socket = createSocket("udp4");
  server = socket;
  socket.on("message", (question, from) => {
    const packet = Buffer.alloc(48);
    packet[0] = (4 << 3) | 4;
    packet[1] = 2;
    question.copy(packet, 24, 40, 48);
    const reply = answer(packet);
    if (reply !== null) socket.send(reply, from.port, from.address);
  });
  socket.bind(0, HOST);
  await once(socket, "listening");
  return socket.address().port;
}

function changed(change: (packet: Buffer) => void): (packet: Buffer) => Buffer {
  return (packet) => {
    change(packet);
    return packet;
  };
}

describe("asking a time server", () => {
  it("takes a right answer", async () => {
    expect(await askTime(HOST, { port: await serve((packet) => packet) })).toEqual({ ok: true });
  });

  it.each([
    ["unsynchronised", changed((packet) => (packet[0] = (3 << 6) | (4 << 3) | 4))],
    ["unsynchronised", changed((packet) => (packet[1] = 16))],
    ["kiss-of-death", changed((packet) => (packet[1] = 0))],
    ["malformed", changed((packet) => (packet[0] = (4 << 3) | 3))],
    ["malformed", (packet: Buffer) => packet.subarray(0, 47)],
    ["no-answer", changed((packet) => packet.fill(1, 24, 32))],
    ["no-answer", () => null],
  ] as const)("refuses: %s", async (why, answer) => {
    expect(await askTime(HOST, { port: await serve(answer), timeoutMs: 200 })).toEqual({ ok: false, why });
  });

  it("does not wait for a closed port", async () => {
    const port = await serve(() => null);
    server?.close();
    server = null;
    expect(await askTime(HOST, { port, timeoutMs: 60_000 })).toEqual({ ok: false, why: "no-answer" });
  });
});
