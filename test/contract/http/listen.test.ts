import { mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { listenOnAddress, listenOnSocket, type ApiEndpoint } from "../../../packages/coordinator/src/http/listen-api.js";
import { ADMIN_TOKEN, createFixture, type ApiFixture } from "./api-fixture.js";
import { requestOverSocket } from "./request-over-socket.js";

let fixture: ApiFixture;
let folder: string;
const open: ApiEndpoint[] = [];
beforeEach(async () => {
  fixture = await createFixture();
  folder = await mkdtemp(join(tmpdir(), "berth-listen-"));
});
afterEach(async () => {
  for (const endpoint of open.splice(0)) await endpoint.close();
  await fixture.close();
  await rm(folder, { recursive: true });
});

async function listening(endpoint: Promise<ApiEndpoint>): Promise<ApiEndpoint> {
  const opened = await endpoint;
  open.push(opened);
  return opened;
}

describe("listening", () => {
  it("serves an address and a socket at once, the socket for its owner alone", async () => {
    const path = join(folder, "api.sock");
    const tcp = await listening(listenOnAddress(fixture.api, "127.0.0.1", 0));
    const unix = await listening(listenOnSocket(fixture.api, path));
    expect(unix.url).toBe(`unix:${path}`);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    const answer = await fetch(`${tcp.url}/api/v1/version`, { headers: { authorization: `Bearer ${ADMIN_TOKEN}` } });
    expect(await answer.json()).toMatchObject({ api: "v1" });
    expect(await requestOverSocket(path, "/api/v1/version", ADMIN_TOKEN)).toMatchObject({ status: 200, body: { api: "v1" } });
  });

  it("replaces the socket of an owner that died", async () => {
    const path = join(folder, "api.sock");
    const owner = spawn(process.execPath, [
      "-e",
      `require("node:net").createServer().listen(${JSON.stringify(path)}, () => console.log("up"))`,
    ]);
    await once(owner.stdout, "data");
    owner.kill("SIGKILL");
    await once(owner, "close");
    expect((await stat(path)).isSocket()).toBe(true);
    await listening(listenOnSocket(fixture.api, path));
    expect(await requestOverSocket(path, "/healthz", null)).toMatchObject({ status: 200 });
  });

  it("refuses a socket that somebody serves, and leaves it to him", async () => {
    const path = join(folder, "api.sock");
    await listening(listenOnSocket(fixture.api, path));
    await expect(listenOnSocket(fixture.api, path)).rejects.toMatchObject({ code: "port-occupied", at: path });
    expect(await requestOverSocket(path, "/healthz", null)).toMatchObject({ status: 200 });
  });

  it("never removes a file that is no socket", async () => {
    const path = join(folder, "precious");
    await writeFile(path, "mine");
    await expect(listenOnSocket(fixture.api, path)).rejects.toMatchObject({ code: "socket-path-occupied" });
    expect((await stat(path)).size).toBe(4);
  });

  it("refuses an occupied port with place and remedy", async () => {
    const other = createServer().listen(0, "127.0.0.1");
    await once(other, "listening");
    const address = other.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    await expect(listenOnAddress(fixture.api, "127.0.0.1", port)).rejects.toMatchObject({
      name: "EnvironmentError",
      code: "port-occupied",
      at: `127.0.0.1:${port}`,
      remedy: expect.stringContaining("another address") as string,
    });
    other.close();
  });

  it("refuses an address that is not of this host, and a folder that is not there", async () => {
    await expect(listenOnAddress(fixture.api, "192.0.2.77", 0)).rejects.toMatchObject({ code: "address-unusable" });
    await expect(listenOnSocket(fixture.api, join(folder, "none", "api.sock"))).rejects.toMatchObject({
      code: "address-unusable",
    });
  });
});
