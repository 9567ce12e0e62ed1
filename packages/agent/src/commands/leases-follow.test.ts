import { appendFile, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "@berth/host";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { followLeasesFile } from "./leases-follow.js";

let directory: string;
let file: string;
let out: string;
let err: string;
let stop: AbortController;
let ended: Promise<void>;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "berth-leases-"));
  file = join(directory, "dhcpd.leases");
  out = "";
  err = "";
  stop = new AbortController();
});

afterEach(async () => {
  stop.abort();
  await ended;
  await rm(directory, { recursive: true });
});

describe("berth-agent leases FILE --follow", () => {
  it("prints JSON lines in the form of the contract", async () => {
    await writeFile(file, lease(1, "node-1"));
    start(true);
    await until(() => lines().length === 1);
    await appendFile(file, lease(2, "x{y};z"));
    await until(() => lines().length === 2);
    const [first, second] = lines().map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(first).toMatchObject({ reset: true, key: "192.0.2.1", lease: { state: "active", in_use: true, dns_label: "node-1" } });
    expect(second).toMatchObject({
      key: "192.0.2.2",
      lease: { hostname: "x{y};z", dns_label: null, ends: "2037-12-31T00:00:00Z" },
    });
    expect(second).not.toHaveProperty("reset");
  });

  it("prints lines for people, with nothing in them that a client may choose freely", async () => {
    await writeFile(file, lease(1, "node-1") + lease(2, "\\033[31m"));
    start(false);
    await until(() => lines().length === 2);
    expect(lines()[0]).toMatch(/^\S+Z {2}192\.0\.2\.1 {2}active {2}00:00:5e:00:53:01 {2}until 2037-12-31T00:00:00Z {2}node-1$/);
    expect(lines()[1]).toMatch(/until 2037-12-31T00:00:00Z$/);
    await writeFile(`${file}.1`, lease(1, "node-1"));
    await rename(`${file}.1`, file);
    await until(() => lines().length === 3);
    expect(lines()[2]).toMatch(/^\S+Z {2}192\.0\.2\.2 {2}gone$/);
  });

  it("follows a file of Kea's, which it knows by its content", async () => {
    const line = (host: number): string => `192.0.2.${host},00:00:5e:00:53:0${host},,600,4000000000,1,0,0,node-${host},0,\n`;
    await writeFile(
      file,
      `address,hwaddr,client_id,valid_lifetime,expire,subnet_id,fqdn_fwd,fqdn_rev,hostname,state,user_context\n${line(1)}`,
    );
    start(false);
    await until(() => lines().length === 1);
    await appendFile(file, line(2));
    await until(() => lines().length === 2);
    expect(lines()[1]).toMatch(/192\.0\.2\.2 {2}active {2}00:00:5e:00:53:02 {2}until \S+ {2}node-2$/);
  });

  it.each(["missing", "empty", "dhcpd's"])("knows Kea's file also where it was %s at first", async (before) => {
    if (before !== "missing") await writeFile(file, before === "empty" ? "" : lease(1, "node-1"));
    start(true);
    if (before === "dhcpd's") await until(() => lines().length === 1);
    const header = "address,hwaddr,client_id,valid_lifetime,expire,subnet_id,fqdn_fwd,fqdn_rev,hostname,state,user_context\n";
    await writeFile(`${file}.new`, `${header}192.0.2.9,00:00:5e:00:53:09,,600,4000000000,1,0,0,node-9,0,\n`);
    await rename(`${file}.new`, file);
    const last = (): string => lines().at(-1) ?? "";
    await until(() => last().includes('"192.0.2.9"'));
    expect(JSON.parse(last())).toMatchObject({ reset: true, key: "192.0.2.9", lease: { in_use: true, dns_label: "node-9" } });
    await writeFile(`${file}.new`, lease(3, "node-3"));
    await rename(`${file}.new`, file);
    await until(() => last().includes('"192.0.2.3"'));
    expect(JSON.parse(last())).toMatchObject({ reset: true, lease: { dns_label: "node-3" } });
  });

  it("waits for a file that is not there yet", async () => {
    start(true);
    await writeFile(file, lease(1, "late"));
    await until(() => lines().length === 1);
    expect(err).toBe("");
  });
});

function start(json: boolean): void {
  const ports = {
    clock: systemClock,
    stdout: (text: string) => void (out += text),
    stderr: (text: string) => void (err += text),
    endingSignal: () => stop.signal,
  };
  ended = followLeasesFile({ file, json }, ports);
}

function lines(): string[] {
  return out.split("\n").slice(0, -1);
}

async function until(done: () => boolean): Promise<void> {
  await expect.poll(done, { timeout: 5_000, interval: 5 }).toBe(true);
}

function lease(host: number, name: string): string {
  return `lease 192.0.2.${host} {
  starts 4 2025/12/25 00:00:00;
  ends 4 2037/12/31 00:00:00;
  binding state active;
  hardware ethernet 00:00:5e:00:53:0${host};
  client-hostname "${name}";
}
`;
}
