import { spawnSync } from "node:child_process";
import { createHash, createPublicKey, generateKeyPairSync, X509Certificate } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemFiles } from "@berth/host";
import { createFakeClock } from "@berth/host/fakes";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openTls, type Tls } from "./open-tls.js";
import { readRequest } from "./read-request.js";

const DAY_MS = 86_400_000;

describe("openTls", () => {
  let directory: string;

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), "berth-tls-"));
  });

  afterEach(() => {
    rmSync(directory, { recursive: true });
  });

  const open = (hosts: readonly string[] = ["region.example", "192.0.2.1", "2001:db8::1"], now = Date.now()): Promise<Tls> =>
    openTls({ directory, files: systemFiles, clock: createFakeClock(now), hosts });

  it("makes keys that only their owner reads, and a fingerprint that anybody can compute", async () => {
    const tls = await open();
    await tls.serverCredentials();
    expect(["ca.key", "server.key"].map((name) => statSync(join(directory, name)).mode & 0o777)).toEqual([0o600, 0o600]);
    const ca = new X509Certificate(readFileSync(join(directory, "ca.crt")));
    const spki = ca.publicKey.export({ type: "spki", format: "der" });
    expect(tls.fingerprint).toBe(createHash("sha256").update(spki).digest("hex"));
  });

  it("issues what openssl accepts under its strict rules", async () => {
    const tls = await open();
    const { publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    writeFileSync(join(directory, "rack.crt"), (await tls.issueRack("rack-0001", publicKey)).pem);
    await tls.serverCredentials();
    for (const [purpose, name] of [
      ["sslclient", "rack.crt"],
      ["sslserver", "server.crt"],
    ] as const) {
      const args = ["verify", "-x509_strict", "-purpose", purpose, "-CAfile", join(directory, "ca.crt"), join(directory, name)];
      const { status, stdout, stderr } = spawnSync("openssl", args, { encoding: "utf8" });
      expect(`${status} ${stdout}${stderr}`).toMatch(/^0 .*: OK\n$/);
    }
    const wrong = spawnSync("openssl", [
      "verify",
      "-purpose",
      "sslserver",
      "-CAfile",
      join(directory, "ca.crt"),
      join(directory, "rack.crt"),
    ]);
    expect(wrong.status).not.toBe(0);
  });

  it("keeps everything over a restart, and makes a lost certificate again from its key", async () => {
    const first = await open();
    const { cert } = await first.serverCredentials();
    const again = await open();
    expect(again).toMatchObject({ fingerprint: first.fingerprint, region: first.region, authorityPem: first.authorityPem });
    expect((await again.serverCredentials()).cert).toBe(cert);
    rmSync(join(directory, "ca.crt"));
    writeFileSync(join(directory, "server.crt"), "rubbish");
    const repaired = await open();
    expect(repaired.fingerprint).toBe(first.fingerprint);
    const leaf = new X509Certificate((await repaired.serverCredentials()).cert);
    expect(leaf.verify(new X509Certificate(first.authorityPem).publicKey)).toBe(true);
  });

  it("never replaces a key that it cannot read", async () => {
    await open();
    writeFileSync(join(directory, "ca.key"), "rubbish");
    await expect(open()).rejects.toMatchObject({ code: "key-unreadable" });
    expect(readFileSync(join(directory, "ca.key"), "utf8")).toBe("rubbish");
  });

  it("makes the server's certificate anew when names change or its last third begins", async () => {
    const now = Date.now();
    const serial = async (tls: Tls): Promise<string> => new X509Certificate((await tls.serverCredentials()).cert).serialNumber;
    const first = await serial(await open(["a.example"], now));
    expect(await serial(await open(["a.example"], now + 200 * DAY_MS))).toBe(first);
    const renamed = await open(["b.example"], now);
    const second = await serial(renamed);
    expect(second).not.toBe(first);
    expect(new X509Certificate((await renamed.serverCredentials()).cert).subjectAltName).toBe(
      `URI:urn:berth:region:${renamed.region}, DNS:b.example`,
    );
    expect(await serial(await open(["b.example"], now + 250 * DAY_MS))).not.toBe(second);
  });

  it("gives a rack eight weeks, from a day ago", async () => {
    const tls = await open();
    const { pem, endsAt } = await tls.issueRack("rack-0001", generateKeyPairSync("ec", { namedCurve: "P-256" }).publicKey);
    const certificate = new X509Certificate(pem);
    expect(endsAt - Date.parse(certificate.validFrom)).toBe(57 * DAY_MS);
    expect(certificate.subjectAltName).toBe("URI:urn:berth:rack:rack-0001");
  });
});

describe("readRequest", () => {
  function requestFrom(...options: string[]): string {
    const directory = mkdtempSync(join(tmpdir(), "berth-csr-"));
    try {
      const key = join(directory, "key.pem");
      const { status, stdout, stderr } = spawnSync(
        "openssl",
        ["req", "-new", "-nodes", "-keyout", key, "-subj", "/CN=root", ...options],
        { encoding: "utf8" },
      );
      if (status !== 0) throw new Error(stderr);
      return stdout;
    } finally {
      rmSync(directory, { recursive: true });
    }
  }

  const P256 = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"];

  it("takes the key of a request that openssl made", async () => {
    const read = await readRequest(requestFrom(...P256));
    expect(read).toMatchObject({ ok: true });
    expect(read.ok && createPublicKey(read.value.publicKey.export({ type: "spki", format: "pem" })).asymmetricKeyType).toBe("ec");
  });

  it("refuses a request whose signature is not by its key", async () => {
    const lines = requestFrom(...P256).split("\n");
    const body = Buffer.from(lines.slice(1, -2).join(""), "base64");
    body.writeUInt8(body.readUInt8(body.length - 4) ^ 0xff, body.length - 4); // inside the signature
    const forged = `${lines[0]}\n${body.toString("base64")}\n-----END CERTIFICATE REQUEST-----\n`;
    expect(await readRequest(forged)).toMatchObject({ ok: false, problems: [{ code: "certificate-request-invalid" }] });
  });

  it("refuses other keys and rubbish", async () => {
    for (const text of [
      requestFrom("-newkey", "rsa:2048"),
      requestFrom("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-384"),
      "",
      "rubbish",
    ])
      expect(await readRequest(text)).toMatchObject({ ok: false, problems: [{ code: "certificate-request-invalid" }] });
  });
});
