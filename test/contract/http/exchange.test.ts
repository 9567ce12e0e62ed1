import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer as createHttpServer, type RequestListener, type Server } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { systemClock, systemFiles } from "@berth/host";
import { parseApiTarget } from "../../../packages/cli/src/connection/api-target.js";
import { exchange } from "../../../packages/cli/src/connection/exchange.js";
import { openTls } from "../../../packages/coordinator/src/tls/open-tls.js";
import { ADMIN_TOKEN, createFixture } from "./api-fixture.js";
import { runBerth } from "./cli-fixture.js";

let folder: string;
const servers: Server[] = [];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "berth-exchange-"));
});
afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
  await rm(folder, { recursive: true });
});

async function serve(server: Server): Promise<number> {
  servers.push(server);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}

async function asked(listener: RequestListener, silenceMs?: number) {
  const target = parseApiTarget(`http://127.0.0.1:${await serve(createHttpServer(listener))}`);
  const what = { method: "GET", path: "/", headers: {}, body: null, authority: null };
  return exchange(target, silenceMs === undefined ? what : { ...what, silenceMs });
}

describe("an exchange", () => {
  it("gives up on a coordinator that takes the request and says nothing", async () => {
    await expect(asked(() => undefined, 30)).rejects.toMatchObject({ exitCode: 3, problems: [{ code: "coordinator-silent" }] });
  });

  it("fails when the answer breaks off", async () => {
    const broken: RequestListener = (_request, response) => {
      response.writeHead(200, { "content-length": "100" }).write("half", () => response.destroy());
    };
    await expect(asked(broken)).rejects.toMatchObject({ exitCode: 3, problems: [{ code: "coordinator-unreachable" }] });
  });

  it("does not read an answer without end", async () => {
    const endless: RequestListener = (_request, response) => {
      const chunk = Buffer.alloc(1024 * 1024, "x");
      const more = (): void => {
        while (response.write(chunk));
      };
      response.on("drain", more);
      more();
    };
    await expect(asked(endless)).rejects.toMatchObject({ exitCode: 3, problems: [{ code: "answer-too-large" }] });
  });
});

describe("berth over https", () => {
  it("trusts the authority it is given, and no other", async () => {
    const fixture = await createFixture();
    const tls = await openTls({ directory: folder, files: systemFiles, clock: systemClock, hosts: ["127.0.0.1"] });
    const server = createHttpsServer(await tls.serverCredentials(), (request, response) =>
      fixture.api.routing(request, response),
    );
    const url = `https://127.0.0.1:${await serve(server)}`;
    const authority = join(folder, "authority.pem");
    await writeFile(authority, tls.authorityPem);
    const env = { BERTH_URL: url, BERTH_TOKEN: ADMIN_TOKEN };
    expect(await runBerth(["rack", "list"], { ...env, BERTH_CA_FILE: authority }, () => 0)).toMatchObject({ code: 0 });
    expect(await runBerth(["rack", "list"], env, () => 0)).toMatchObject({
      code: 3,
      stderr: expect.stringContaining("BERTH_CA_FILE") as string,
    });
    await fixture.close();
  });
});
