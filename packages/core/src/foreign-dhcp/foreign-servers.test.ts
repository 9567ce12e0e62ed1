import { describe, expect, it } from "vitest";
import { hardwareAddressSchema } from "../desired/schema.js";
import { ipAddress, type IpAddress } from "../address/ip.js";
import type { DhcpReply } from "../dhcp-packet/model.js";
import { foreignServerProblems, noteOffers, type ForeignServer, type HeardOffer, type OfferRound } from "./foreign-servers.js";

const ROGUE = ipAddress("192.168.1.1");
const OWN = ipAddress("192.168.50.1");
const MAC = hardwareAddressSchema.parse("02:00:5e:00:53:07");
const SINCE = Date.parse("2026-11-30T12:00:00Z");

function offer(source: IpAddress, change: Partial<DhcpReply> = {}, interfaceName = "eth0"): HeardOffer {
  const reply: DhcpReply = {
    type: "offer",
    transactionId: 1,
    hardwareAddress: null,
    address: ipAddress("192.168.1.100"),
    nextServer: null,
    relayAddress: null,
    serverIdentifier: source,
    leaseSeconds: 777,
    subnetMask: null,
    routers: [ROGUE],
    dnsServers: [],
    domainName: null,
    bootFile: null,
    ...change,
  };
  return { interfaceName, source, reply };
}

function round(offers: readonly HeardOffer[], change: Partial<OfferRound> = {}): OfferRound {
  const links = new Set(["eth0"]);
  return { asked: links, served: links, offers, trusted: new Set([OWN]), hardwareAddresses: new Map(), now: SINCE, ...change };
}

function rounds(...all: readonly OfferRound[]): readonly ForeignServer[] {
  return all.reduce<readonly ForeignServer[]>(noteOffers, []);
}

describe("foreign DHCP servers", () => {
  it("names the server, its hardware address, what it offers and since when", () => {
    const servers = rounds(
      round([offer(ROGUE)], { hardwareAddresses: new Map([[ROGUE, MAC]]) }),
      round([offer(ROGUE)], { now: SINCE + 1 }),
    );
    expect(foreignServerProblems(servers)).toEqual([
      {
        code: "foreign-dhcp-server",
        at: "eth0",
        message:
          "192.168.1.1 (02:00:5e:00:53:07) answers DHCP on a link that Berth serves, since 2026-11-30T12:00:00.000Z: " +
          "it offers 192.168.1.100 for 777 s, routers 192.168.1.1, DNS none",
        remedy:
          "find it by its hardware address and switch its DHCP off, or name 192.168.1.1 in dhcpd.known_servers of the agent's configuration",
      },
    ]);
  });

  it("believes the server identifier and the sender, whichever is ours", () => {
    expect(rounds(round([offer(OWN)]))).toEqual([]);
    expect(rounds(round([offer(ROGUE, { serverIdentifier: OWN })]))).toEqual([]);
    expect(rounds(round([offer(OWN, { serverIdentifier: ROGUE })]))).toEqual([]);
  });

  it("takes the sender for the server where no identifier is sent", () => {
    const [server] = rounds(round([offer(ROGUE, { serverIdentifier: null, leaseSeconds: 0xffffffff })]));
    expect(server).toMatchObject({ server: ROGUE, source: ROGUE });
    expect(foreignServerProblems(server === undefined ? [] : [server])[0]?.message).toContain("for ever");
  });

  it("forgets it after three silent rounds, not before, and does not count rounds on other links", () => {
    const heard = round([offer(ROGUE)]);
    const silent = round([]);
    const elsewhere = round([], { asked: new Set(["eth1"]), served: new Set(["eth0", "eth1"]) });
    expect(rounds(heard, silent, elsewhere, silent)).toHaveLength(1);
    expect(rounds(heard, silent, heard, silent, silent)).toHaveLength(1);
    expect(rounds(heard, silent, silent, silent)).toEqual([]);
  });

  it("forgets it when its link is no longer served or an operator trusts it", () => {
    expect(rounds(round([offer(ROGUE)]), round([], { asked: new Set(), served: new Set() }))).toEqual([]);
    expect(rounds(round([offer(ROGUE)]), round([], { trusted: new Set([ROGUE]) }))).toEqual([]);
  });

  it("gives no alarm for an acknowledgement or a refusal, and keeps at most 64", () => {
    expect(rounds(round([offer(ROGUE, { type: "ack" }), offer(ROGUE, { type: "nak" })]))).toEqual([]);
    const many = Array.from({ length: 100 }, (_, n) => offer(ipAddress(`10.0.0.${n + 1}`)));
    expect(rounds(round(many))).toHaveLength(64);
  });

  it("says the same in the same order", () => {
    const two = [offer(ipAddress("10.0.0.2")), offer(ipAddress("10.0.0.1"))];
    expect(rounds(round(two))).toEqual(rounds(round(two.toReversed())));
  });
});
