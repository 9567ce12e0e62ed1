import { createHmac } from "node:crypto";
import { createServer, Socket, type AddressInfo, type Server } from "node:net";
import { encodeOmapi, ipAddress, omapiNumber, omapiText, type OmapiMessage } from "@berth/core";
import { EnvironmentError, systemClock } from "@berth/host";
import { afterEach, describe, expect, it } from "vitest";
import { createOmapiClient } from "./omapi-client.js";

const SECRET = Buffer.alloc(32, 1);
const HELLO = Buffer.concat([omapiNumber(100), omapiNumber(24)]);
const ADDRESS = ipAddress("192.168.50.100");

const sign = (octets: Uint8Array): Uint8Array => createHmac("sha256", SECRET).update(octets).digest();
const answer = (changes: Partial<OmapiMessage>): Uint8Array => {
  const plain = { authenticator: 0, operation: 3, handle: 1, transaction: 1, answers: 1, message: new Map(), object: new Map() };
  return encodeOmapi({ ...plain, ...changes }, sign);
};

/** Whatever may listen where dhcpd should; told to the end, because a stopped test must leave nothing open. */
describe("the OMAPI client and a hostile server", () => {
  const open: (Server | Socket)[] = [];
  afterEach(() => {
    for (const each of open.splice(0)) {
      if (each instanceof Socket) each.destroy();
      else each.close();
    }
  });

  async function against(onAsk: (socket: Socket, times: number) => void): Promise<string> {
    const server = createServer((socket) => {
      let times = 0;
      open.push(socket);
      socket.on("error", () => undefined); // the client hangs up on purpose
      socket.write(HELLO);
      socket.on("data", () => onAsk(socket, ++times));
    });
    open.push(server);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const client = createOmapiClient({ port, secret: SECRET, timeoutMs: 300 }, systemClock);
    try {
      const result = await client.lookUpLease(ADDRESS);
      return result.ok ? "ok" : (result.problems[0]?.code ?? "");
    } catch (error) {
      if (error instanceof EnvironmentError) return error.code;
      throw error;
    }
  }

  it("works with an honest one", async () => {
    const lease = { authenticator: 1, answers: 2, object: new Map([["state", omapiNumber(2)]]) };
    expect(await against((socket, times) => socket.write(times === 1 ? answer({}) : answer(lease)))).toBe("ok");
  });

  it("gives up on silence, chatter and noise", async () => {
    expect(await against(() => undefined)).toBe("omapi-timeout");
    expect(await against((socket) => socket.write(answer({ answers: 99 })))).toBe("omapi-timeout");
    expect(await against((socket) => socket.write("HTTP/1.1 400 Bad Request\r\n\r\n".repeat(9)))).toBe("omapi-garbled");
    expect(await against((socket) => socket.write(Buffer.alloc(100_000, 1)))).toBe("omapi-garbled");
    expect(await against((socket) => void socket.end())).toBe("omapi-unreachable");
  });

  it("believes nothing unsigned once the key was named", async () => {
    const unsigned = answer({ answers: 2 });
    expect(await against((socket, times) => socket.write(times === 1 ? answer({}) : unsigned))).toBe("omapi-key-refused");
    const reason = {
      operation: 5,
      message: new Map([
        ["result", omapiNumber(6)],
        ["message", omapiText("no")],
      ]),
    };
    expect(await against((socket) => socket.write(answer(reason)))).toBe("omapi-key-refused");
  });

  it("says when nothing listens", async () => {
    const client = createOmapiClient({ port: 1, secret: SECRET, timeoutMs: 300 }, systemClock);
    await expect(client.lookUpLease(ADDRESS)).rejects.toMatchObject({ code: "omapi-unreachable" });
  });
});
