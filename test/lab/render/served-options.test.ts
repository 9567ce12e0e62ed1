import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { goldenCase } from "../../golden-cases.js";
import type { Host } from "../host.js";
import { createLab, type Lab } from "../lab.js";
import { strangerMac, type RawDhcpClient } from "../raw-dhcp-client.js";
import { requireTools } from "../require-tools.js";
import { PATIENT, serveGolden } from "./rendered-rack.js";

/** Codes: time offset, log servers, root path, TTL, MTU, NetBIOS node, time zone, routes, TFTP servers. */
const MORE = [2, 7, 17, 23, 26, 46, 101, 121, 150];

describe("what machines are told", () => {
  let lab: Lab;
  let rack: Host;
  let clients: RawDhcpClient;

  beforeEach(async () => {
    requireTools(["ip", "dhcpd", "gcc"]);
    lab = await createLab({ name: "served-options.test" });
    const link = await lab.addLink("rack");
    rack = await lab.addRack("rack", { backbone: null });
    await rack.connect(link, { addresses: ["192.168.50.1/24"] });
    const crowd = await lab.addHost("crowd");
    await crowd.connect(link);
    clients = await crowd.rawDhcp();
  });
  afterEach(() => lab.close());

  it("is every option of the subnet, also to a machine with an address of its own", async () => {
    await serveGolden(rack, goldenCase("options"));
    for (const mac of [strangerMac(1), "02:00:5e:00:00:01"]) {
      const { reply } = await clients.dora({ mac, wanted: MORE }, PATIENT);
      expect(reply).toMatchObject({ routers: ["192.168.50.253", "192.168.50.254"], nameServers: ["192.168.50.1"] });
      const hex = (code: number): string | undefined => reply?.options.get(code)?.toString("hex");
      expect(hex(26)).toBe("2328");
      expect(hex(2)).toBe("fffff1f0");
      expect(hex(7)).toBe("c0a83205c0a83206");
      expect(hex(23)).toBe("40");
      expect(hex(46)).toBe("08");
      expect(hex(150)).toBe("c0a83205");
      expect(hex(121)).toBe("00c0a832fd" + "0e0a14c0a832fc" + "19ac100500c0a832fc");
      expect(reply?.options.get(17)?.toString("latin1")).toBe('nfs:192.168.50.5:/srv/"root"');
      expect(reply?.options.get(101)?.toString("latin1")).toBe("Europe/Berlin");
      // RFC 3397: rack.example.test, and example.test as a pointer into it.
      expect(hex(119)).toBe("047261636b076578616d706c650474657374" + "00" + "c005");
    }
  });

  it("is what the operator's snippet says, to whom it says", async () => {
    await serveGolden(rack, goldenCase("snippet"));
    const plain = await clients.dora({ mac: "02:00:5e:00:00:01", wanted: [72, 150, 224] }, PATIENT);
    expect(plain.reply?.options.get(72)?.toString("hex")).toBe("c0a83207");
    expect(plain.reply?.options.get(224)?.toString("hex")).toBe("0102");
    expect(plain.reply?.options.has(150)).toBe(false);
    const phone = await clients.dora({ mac: "02:00:5e:00:00:01", vendorClass: "Cisco IP phone", wanted: [150] }, PATIENT);
    expect(phone.reply?.options.get(150)?.toString("hex")).toBe("c0a83205");
  });
});
