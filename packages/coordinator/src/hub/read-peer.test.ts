import { generateKeyPairSync, X509Certificate } from "node:crypto";
import type { TLSSocket } from "node:tls";
import { silentLog } from "@berth/host";
import { createFakeClock } from "@berth/host/fakes";
import { expect, it } from "vitest";
import { memoryFiles, memoryStore } from "../../../../test/contract/link/memory-ports.js";
import { createRackRegistry } from "../racks/rack-registry.js";
import { publicKeyHash } from "../tls/certificate.js";
import { openTls } from "../tls/open-tls.js";
import { createPeerReader } from "./read-peer.js";

it("takes the key out of a certificate once, and never for another certificate", async () => {
  const clock = createFakeClock(Date.UTC(2026, 10, 30));
  const files = memoryFiles();
  const tls = await openTls({ directory: "/region", files, clock, hosts: [] });
  const registry = await createRackRegistry({ store: memoryStore(), clock, log: silentLog });
  const { publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const taken: string[] = [];
  const read = createPeerReader((certificate) => {
    taken.push(certificate.serialNumber);
    return publicKeyHash(certificate.publicKey);
  });
  const join = async (id: string, hash: string): Promise<TLSSocket> => {
    const issued = await tls.issueRack(id, publicKey);
    await registry.admit({ id, name: id, site: "s", joinedAt: 0, certificateSerial: issued.serial, publicKeyHash: hash });
    const certificate = new X509Certificate(issued.pem);
    return { getPeerX509Certificate: () => certificate, authorized: true } as unknown as TLSSocket;
  };
  const one = await join("r1", publicKeyHash(publicKey));
  const two = await join("r2", "another key");
  for (let dial = 0; dial < 5; dial++) {
    expect(read(one, registry, clock.now())).toMatchObject({ ok: true, value: { rack: "r1" } });
    expect(read(two, registry, clock.now())).toMatchObject({ problems: [{ code: "rack-replaced" }] });
  }
  expect(new Set(taken).size).toBe(2);
  expect(taken).toHaveLength(2);
  await registry.remove("r1");
  expect(read(one, registry, clock.now())).toMatchObject({ problems: [{ code: "rack-unknown" }] });
});
