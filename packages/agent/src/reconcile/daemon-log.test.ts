import { appendFile, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { boundLog, lastWords, logOffset, readLogSince } from "./daemon-log.js";

describe("daemon log", () => {
  let folder: string;
  let log: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "berth-log-"));
    log = join(folder, "dhcpd.log");
  });
  afterEach(() => rm(folder, { recursive: true }));

  it("reads what came since, and nothing where there is no file", async () => {
    expect(await logOffset(log)).toBe(0);
    expect(await readLogSince(log, 0)).toBe("");
    await writeFile(log, "old\n");
    const offset = await logOffset(log);
    await appendFile(log, "Server starting service.\n");
    expect(await readLogSince(log, offset)).toBe("Server starting service.\n");
  });

  it("reads from the start of a file that was emptied meanwhile", async () => {
    await writeFile(log, "x".repeat(100));
    const offset = await logOffset(log);
    await writeFile(log, "new\n");
    expect(await readLogSince(log, offset)).toBe("");
    expect(await readLogSince(log, 0)).toBe("new\n");
  });

  it("keeps a log bounded and its past once", async () => {
    await writeFile(log, "0123456789");
    await boundLog(log, 10);
    expect(await readFile(log, "utf8")).toBe("0123456789");
    await appendFile(log, "!");
    await boundLog(log, 10);
    expect([await readFile(log, "utf8"), await readFile(`${log}.1`, "utf8")]).toEqual(["", "0123456789!"]);
  });

  it("quotes the lines that say why, without banner and control characters", () => {
    const said =
      "Internet Systems Consortium DHCP Server 4.4.3-P1\nCopyright 2004-2022\n\nNo subnet declaration for eth0\u001b[31m (no IPv4 addresses).\nNot configured to listen\n\nexiting.\n";
    expect(lastWords(said)).toBe("No subnet declaration for eth0 [31m (no IPv4 addresses).; Not configured to listen");
  });
});
