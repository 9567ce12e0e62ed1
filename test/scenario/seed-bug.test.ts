import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Host } from "../lab/host.js";
import { startDhcpd } from "../lab/lab-daemons.js";
import { createLab, type Lab } from "../lab/lab.js";
import { strangerMac, type RawDhcpClient } from "../lab/raw-dhcp-client.js";
import { requireTools } from "../lab/require-tools.js";
import { AckBook } from "../lab/storms/ack-book.js";
import { waitUntil } from "../lab/wait-until.js";

/**
 * The bug that Berth exists for (Launchpad 1314267, 1274499), in its three forms, against configurations as people write them. They show that the
 * book catches it: in storm.test.ts the same book stays empty.
 */
describe("a dhcpd.conf of an operator's own gives one address to two", () => {
  let lab: Lab;
  let rack: Host;
  let wire: RawDhcpClient;
  let book: AckBook;
  beforeAll(async () => {
    requireTools(["ip", "dhcpd", "gcc"]);
    lab = await createLab({ name: "seed-bug" });
  });
  afterAll(() => lab.close());

  /** A rack of its own for each form. */
  async function serve(name: string, conf: string): Promise<void> {
    const link = await lab.addLink(name);
    rack = await lab.addHost(name);
    await rack.connect(link, { addresses: ["192.168.50.1/24"] });
    wire = await (await lab.addMachine(`${name}-crowd`, link)).rawDhcp();
    book = new AckBook();
    await startDhcpd(rack, conf);
  }

  const subnet = (range: string): string =>
    `authoritative; subnet 192.168.50.0 netmask 255.255.255.0 { option dhcp-server-identifier 192.168.50.1; range ${range}; }`;
  const dora = async (n: number): Promise<string | null> => {
    const exchange = await wire.dora({ mac: strangerMac(n), answers: "arp" }, { attempts: 1, waitMs: 2_500 });
    book.note(exchange, Date.now());
    return exchange.address;
  };

  it("when a fixed address lies in the range and its machine is off", async () => {
    const owner = strangerMac(900);
    const host = `host a { hardware ethernet ${owner}; fixed-address 192.168.50.101; }`;
    await serve("reserved", `ping-check false;\n${host}\n${subnet("192.168.50.100 192.168.50.103")}`);
    for (const n of [1, 2, 3, 4]) await dora(n);
    expect(book.clashes).toEqual([]);
    expect(await dora(900)).toBe("192.168.50.101");
    expect(book.clashes).toMatchObject([{ address: "192.168.50.101", mac: owner }]);
    await wire.close();
  });

  it("when the pool is empty and the holder of an abandoned address hears no ping any more", async () => {
    await serve("abandoned", subnet("192.168.50.100 192.168.50.101"));
    const holder = { mac: strangerMac(901), answers: "arp-and-ping" as const };
    wire.squat(holder, "192.168.50.100");
    book.keep("192.168.50.100", holder.mac);
    wire.squat(holder, "192.168.50.101");
    await wire.discover({ mac: strangerMac(1) }, { attempts: 2, waitMs: 600 });
    await wire.discover({ mac: strangerMac(2) }, { attempts: 2, waitMs: 600 });
    expect(book.clashes).toEqual([]);
    wire.squat({ ...holder, answers: "arp" }, "192.168.50.100");
    wire.squat({ ...holder, answers: "arp" }, "192.168.50.101");
    await waitUntil(
      () =>
        dora(3)
          .then(() => dora(4))
          .then(() => book.clashes.length),
      {
        describe: "an abandoned address is handed out",
        deadlineMs: 40_000,
        until: (clashes) => clashes > 0,
      },
    );
    await wire.close();
  });

  it("when the rack's neighbour table is out of date", async () => {
    await serve("stale", subnet("192.168.50.100 192.168.50.100"));
    const holder = { mac: strangerMac(902), answers: "arp-and-ping" as const };
    wire.squat(holder, "192.168.50.100");
    book.keep("192.168.50.100", holder.mac);
    await rack.ip("neigh", "replace", "192.168.50.100", "lladdr", "02:de:ad:00:00:01", "dev", "eth0", "nud", "permanent");
    expect(await dora(1)).toBe("192.168.50.100");
    expect(book.clashes).toEqual([{ address: "192.168.50.100", mac: strangerMac(1), heldBy: holder.mac }]);
    await wire.close();
  });
});
