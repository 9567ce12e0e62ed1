import { X509Certificate } from "node:crypto";
import { expect, it } from "vitest";
import { createFakeClock } from "@berth/host/fakes";
import { waitUntil } from "../../lab/wait-until.js";
import { admit, createLinkWorld } from "./link-world.js";
import { startRack } from "./test-rack.js";

const WEEK_MS = 7 * 86_400_000;

it("a certificate is renewed over the link at half of its life, and the session lives on", async () => {
  // TLS itself judges by the real clock, so the story begins five weeks ago and its turning point is now.
  const clock = createFakeClock(Date.now() - 5 * WEEK_MS);
  const world = await createLinkWorld("over TLS", clock);
  const identity = await admit(world, "r1");
  const rack = startRack(world, identity);
  const renewed = () => rack.saved.filter(({ certificate }) => certificate !== identity.certificate);
  await waitUntil(() => world.connected(), { describe: "linked", until: (racks) => racks.length === 1 });
  await clock.advance(1_000);
  expect(renewed()).toEqual([]);

  clock.step(5 * WEEK_MS);
  await waitUntil(
    async () => {
      await clock.advance(1_000);
      return renewed().length;
    },
    { describe: "a new certificate is saved", until: (count) => count === 1 },
  );
  const [older, newer] = [identity.certificate, renewed()[0]?.certificate ?? ""].map((pem) => new X509Certificate(pem));
  expect(newer?.serialNumber).not.toBe(older?.serialNumber);
  expect(Date.parse(newer?.validTo ?? "") - Date.parse(older?.validTo ?? "")).toBeGreaterThan(4 * WEEK_MS);
  expect(world.registry().record(identity.rack)?.certificateSerial).toBe(newer?.serialNumber.toLowerCase());
  expect(rack.sent.filter(({ type }) => type === "renew")).toHaveLength(1);

  clock.step(4 * WEEK_MS); // past the end of the first certificate
  await clock.advance(3_000);
  expect(world.connected()).toEqual([identity.rack]);
  await rack.stop();
  await world.stop();
});

it("a session ends with the certificate that opened it", async () => {
  const clock = createFakeClock(Date.now());
  const world = await createLinkWorld("over TLS", clock);
  const identity = await admit(world, "r1");
  const { rawPeer } = await import("./test-rack.js");
  const peer = await rawPeer(world, identity);
  peer.hello();
  await waitUntil(() => world.connected(), { describe: "linked", until: (racks) => racks.length === 1 });
  clock.step(9 * WEEK_MS);
  await clock.advance(2_000);
  await waitUntil(() => peer.closed, { describe: "closed", until: (closed) => closed[0]?.reason === "certificate-expired" });
  await expect(rawPeer(world, identity)).rejects.toMatchObject({ code: "certificate-expired" });
  await world.stop();
});
