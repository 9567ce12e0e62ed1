import { createPrivateKey, X509Certificate } from "node:crypto";
import { request } from "node:https";
import { Command } from "commander";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { formatJoinLine, JOIN_BYTES_MAX } from "@berth/core";
import { systemClock, type Clock, type Files } from "@berth/host";
import { createFakeClock } from "@berth/host/fakes";
import { registerJoin } from "../../../packages/agent/src/commands/join.js";
import { loadIdentity } from "../../../packages/agent/src/identity/identity.js";
import { openTls } from "../../../packages/coordinator/src/tls/open-tls.js";
import { waitUntil } from "../../lab/wait-until.js";
import { ask, createLinkWorld, makeToken, TOLD, type LinkWorld } from "./link-world.js";
import { memoryFiles } from "./memory-ports.js";
import { startRack } from "./test-rack.js";

interface Typed {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** Types a join line on a host whose disk is `files`. */
async function type(
  line: string,
  files: Files,
  changes: { readonly clock?: Clock; readonly extra?: readonly string[] } = {},
): Promise<Typed> {
  const program = new Command().exitOverride();
  let [out, err] = ["", ""];
  let code: number | null = null;
  registerJoin(program, {
    files,
    clock: changes.clock ?? systemClock,
    hostname: "Rack7.example.com",
    version: "test",
    defaultState: "/state",
    print: (text) => (out += `${text}\n`),
    printError: (text) => (err += `${text}\n`),
    exit: (status) => (code = status),
  });
  await program.parseAsync([...line.split(" ").slice(1), ...(changes.extra ?? [])], { from: "user" });
  return { code, out, err };
}

describe("berth-agent join", () => {
  let world: LinkWorld;

  beforeEach(async () => {
    world = await createLinkWorld("over TLS");
  });

  afterEach(async () => {
    await world.stop();
  });

  const lineFor = (token: string, fingerprint = world.tls.fingerprint): string => {
    const [id = "", secret = ""] = token.split(".");
    return formatJoinLine(world.address(), { id, secret }, fingerprint);
  };

  it("makes this host a rack that can link, with its key readable by nobody else", async () => {
    const files = memoryFiles();
    const typed = await type(lineFor(await makeToken(world)), files);
    expect(typed).toMatchObject({ code: 0, err: "" });
    const identity = await loadIdentity("/state", files);
    expect(identity).toMatchObject({ name: "rack7.example.com", site: "default", regions: [world.address(), ...TOLD] });
    expect([...files.modes.values()]).toEqual([0o600, 0o600]);
    if (identity === null) throw new Error("no identity");
    const rack = startRack(world, identity);
    await waitUntil(() => world.connected(), { describe: "linked", until: (racks) => racks.includes(identity.rack) });
    await rack.stop();
  });

  it("gives the same answer to the same host when the line is typed again", async () => {
    const files = memoryFiles();
    const line = lineFor(await makeToken(world));
    expect((await type(line, files)).code).toBe(0);
    const first = await loadIdentity("/state", files);
    expect((await type(line, files)).code).toBe(0);
    expect(await loadIdentity("/state", files)).toMatchObject({ rack: first?.rack, name: first?.name, key: first?.key });
    expect(world.registry().records()).toHaveLength(1);
  });

  it("refuses the token to another host", async () => {
    const line = lineFor(await makeToken(world));
    expect((await type(line, memoryFiles())).code).toBe(0);
    const second = await type(line, memoryFiles());
    expect(second.code).toBe(2);
    expect(second.err).toContain("[token-used]");
    expect(world.registry().records()).toHaveLength(1);
  });

  it("gives a token that two hosts use at the same moment to one of them", async () => {
    const token = await makeToken(world);
    const hosts = ["h1", "h2", "h3"].map((hostname) => ask(world, { hostname, token, files: memoryFiles() }));
    const answers = await Promise.all(hosts);
    expect(answers.filter(({ ok }) => ok)).toHaveLength(1);
    expect(answers.flatMap((answer) => (answer.ok ? [] : answer.problems.map(({ code }) => code)))).toEqual([
      "token-used",
      "token-used",
    ]);
    expect(world.registry().records()).toHaveLength(1);
  });

  it("lets the store decide who came first, not what was read before", async () => {
    const { tokens } = world.store;
    const raced: typeof tokens = { ...tokens, use: (id, _key, at) => tokens.use(id, "a key that was quicker", at) };
    const answer = await ask(world, { hostname: "h1", token: await makeToken(world), files: memoryFiles(), tokens: raced });
    expect(answer).toMatchObject({ ok: false, problems: [{ code: "token-used" }] });
    expect(world.registry().records()).toEqual([]);
  });

  it("sends nothing to a server with another fingerprint", async () => {
    const token = await makeToken(world);
    const wrong = await type(lineFor(token, "0".repeat(64)), memoryFiles());
    expect(wrong.code).toBe(3);
    expect(wrong.err).toContain("[fingerprint-differs]");
    expect((await world.store.tokens.list())[0]?.usedBy).toBeNull();
    expect(world.registry().records()).toEqual([]);
  });

  it("tells an unknown, a wrong and an expired token", async () => {
    const [id = ""] = (await makeToken(world)).split(".");
    const unknown = await type(lineFor(`ffffffff.${"0".repeat(32)}`), memoryFiles());
    const wrong = await type(lineFor(`${id}.${"0".repeat(32)}`), memoryFiles());
    expect([unknown.code, wrong.code]).toEqual([2, 2]);
    expect(unknown.err).toBe(wrong.err);
    expect(unknown.err).toContain("[token-unknown]");
    const old = await makeToken({ store: world.store, clock: createFakeClock(Date.now() - 86_400_000) });
    const expired = await type(lineFor(old), memoryFiles());
    expect(expired).toMatchObject({ code: 2 });
    expect(expired.err).toContain("[token-expired]");
  });

  it("tells that nobody listens, and that the clock is off", async () => {
    const line = lineFor(await makeToken(world));
    const early = await type(line, memoryFiles(), { clock: createFakeClock(Date.parse("1970-02-01")) });
    expect(early.code).toBe(3);
    expect(early.err).toContain("[clock-off]");
    const ahead = await type(line, memoryFiles(), { clock: createFakeClock(Date.now() + 3 * 3_600_000) });
    expect(ahead.code).toBe(3);
    expect(ahead.err).toMatch(/180 minutes off.*\[clock-off\]/);
    await world.stop();
    const nobody = await type(line, memoryFiles());
    expect(nobody.code).toBe(3);
    expect(nobody.err).toContain("[region-unreachable]");
  });

  it("names everything that is wrong with a line at once", async () => {
    const typed = await type("berth-agent join 10.1:70 token md5:00", memoryFiles(), { extra: ["--name", "Rack 7"] });
    expect(typed.code).toBe(2);
    expect(typed.err.trim().split("\n")).toHaveLength(4);
  });

  it("takes the name of the token, refuses one that is taken, replaces the host of a rack by name", async () => {
    const first = memoryFiles();
    await type(lineFor(await makeToken(world, "r1")), first);
    const named = await type(lineFor(await makeToken(world)), memoryFiles(), { extra: ["--name", "r1"] });
    expect(named.code).toBe(2);
    expect(named.err).toContain("[rack-name-taken]");
    const second = memoryFiles();
    expect((await type(lineFor(await makeToken(world, "r1", { replace: true })), second)).code).toBe(0);
    const [old, replacement] = [await loadIdentity("/state", first), await loadIdentity("/state", second)];
    if (old === null || replacement === null) throw new Error("not joined");
    expect(replacement).toMatchObject({ rack: old.rack, name: "r1" });
    const [entry, ...others] = (await world.store.audit.list(0, 99)).filter(({ action }) => action === "replace-rack-host");
    expect(others).toEqual([]);
    expect(entry).toMatchObject({ subject: "r1", detail: { rack: old.rack, before: { connected: false } } });
    expect(entry?.actor).toMatch(/^join token [0-9a-f]{12}$/);
    expect(world.registry().records()).toHaveLength(1);
    const ghost = startRack(world, old);
    await waitUntil(() => ghost.link.status(), {
      describe: "the old key is refused",
      until: ({ problem }) => problem?.code === "rack-replaced",
    });
    await ghost.stop();
  });

  it("does not move a host to another region by accident", async () => {
    const files = memoryFiles();
    await type(lineFor(await makeToken(world)), files);
    const elsewhere = await type(lineFor(await makeToken(world), "1".repeat(64)), files);
    expect(elsewhere.code).toBe(2);
    expect(elsewhere.err).toContain("[joined-elsewhere]");
  });

  it("does not take a rack's certificate for that of a region", async () => {
    const impostor = await openTls({ directory: "/other", files: memoryFiles(), clock: systemClock, hosts: [] });
    expect(impostor.fingerprint).not.toBe(world.tls.fingerprint);
    const files = memoryFiles();
    await type(lineFor(await makeToken(world)), files);
    const identity = await loadIdentity("/state", files);
    if (identity === null) throw new Error("not joined");
    const { createServer } = await import("node:https");
    const server = createServer({ key: identity.key, cert: `${identity.certificate}${identity.ca}` }, () => {
      throw new Error("something was sent");
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as { port: number };
    const typed = await type(
      `berth-agent join 127.0.0.1:${port} ${await makeToken(world)} sha256:${world.tls.fingerprint}`,
      memoryFiles(),
    );
    expect(typed.code).toBe(3);
    expect(typed.err).toContain("[fingerprint-differs]");
    await new Promise((resolve) => server.close(resolve));
  });

  it("the door refuses what is no join, and slows down who guesses", async () => {
    const post = (body: string, path = "/join", method = "POST"): Promise<number> =>
      new Promise((resolve, reject) => {
        const { port } = new URL(`https://${world.address()}`);
        const sent = request({ host: "127.0.0.1", port, path, method, rejectUnauthorized: false, agent: false }, (response) => {
          response.resume();
          resolve(response.statusCode ?? 0);
        });
        sent.on("error", reject);
        sent.end(body);
      });
    expect(await post("", "/", "GET")).toBe(404);
    expect(await post("", "/join", "GET")).toBe(405);
    expect(await post("{")).toBe(400);
    expect(await post("[]")).toBe(400);
    expect(await post(" ".repeat(JOIN_BYTES_MAX + 1))).toBe(400);
    const guesses: number[] = [];
    for (let i = 0; i < 9; i++) guesses.push(await post("{}"));
    expect(guesses.at(-1)).toBe(429);
  });

  it("a damaged identity is told, never taken", async () => {
    const files = memoryFiles();
    const line = lineFor(await makeToken(world));
    await type(line, files);
    await files.replace("/state/link/identity.json", "{");
    const typed = await type(line, files);
    expect(typed.code).toBe(3);
    expect(typed.err).toContain("[identity-unreadable]");
  });

  it("issues to a rack what may open a link and nothing else", async () => {
    const files = memoryFiles();
    await type(lineFor(await makeToken(world)), files);
    const identity = await loadIdentity("/state", files);
    if (identity === null) throw new Error("not joined");
    const certificate = new X509Certificate(identity.certificate);
    expect(certificate.ca).toBe(false);
    expect(certificate.subject).toBe(`CN=${identity.rack}`);
    expect(certificate.keyUsage).toEqual(["1.3.6.1.5.5.7.3.2"]);
    expect(certificate.checkPrivateKey(createPrivateKey(identity.key))).toBe(true);
  });
});
