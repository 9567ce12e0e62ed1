import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { hardwareAddressSchema } from "../desired/schema.js";
import { ipAddress } from "../address/ip.js";
import { decodeDhcpReply } from "./decode-reply.js";
import { encodeDhcpQuestion } from "./encode-question.js";
import { encodeOption } from "./options.js";

const MAC = hardwareAddressSchema.parse("02:00:5e:00:53:01");

/** A reply with these options behind the cookie, and changes to its header. */
function packet(options: readonly number[], change?: (octets: Uint8Array) => void): Uint8Array {
  const octets = new Uint8Array(240 + options.length);
  octets.set([2, 1, 6, 0, 0xde, 0xad, 0xbe, 0xef]);
  octets.set([192, 0, 2, 77], 16);
  octets.set([0x02, 0x00, 0x5e, 0x00, 0x53, 0x01], 28);
  octets.set([0x63, 0x82, 0x53, 0x63], 236);
  octets.set(options, 240);
  change?.(octets);
  return octets;
}

function reply(options: readonly number[], change?: (octets: Uint8Array) => void) {
  const decoded = decodeDhcpReply(packet(options, change));
  if (!decoded.ok) throw new Error(decoded.why);
  return decoded.reply;
}

const OFFER = [53, 1, 2];

describe("questions of DHCP clients and relays", () => {
  it("encodes a DISCOVER octet by octet", () => {
    const octets = encodeDhcpQuestion({
      type: "discover",
      transactionId: 0xdeadbeef,
      hardwareAddress: MAC,
      broadcast: true,
      wanted: [1, 3, 6],
    });
    expect(octets.length).toBe(300);
    expect([...octets.subarray(0, 12)]).toEqual([1, 1, 6, 0, 0xde, 0xad, 0xbe, 0xef, 0, 0, 0x80, 0]);
    expect([...octets.subarray(12, 34)]).toEqual([...new Array<number>(16).fill(0), 0x02, 0x00, 0x5e, 0x00, 0x53, 0x01]);
    expect([...octets.subarray(236, 250)]).toEqual([0x63, 0x82, 0x53, 0x63, 53, 1, 1, 55, 3, 1, 3, 6, 255, 0]);
  });

  it("encodes a relayed INFORM, and what a REQUEST names", () => {
    const relayed = encodeDhcpQuestion({
      type: "inform",
      transactionId: 1,
      hardwareAddress: MAC,
      clientAddress: ipAddress("192.0.2.9"),
      relayAddress: ipAddress("127.0.0.1"),
    });
    expect(relayed[3]).toBe(1);
    expect([...relayed.subarray(12, 16), ...relayed.subarray(24, 28)]).toEqual([192, 0, 2, 9, 127, 0, 0, 1]);
    expect([...relayed.subarray(240, 244)]).toEqual([53, 1, 8, 255]);
    const request = encodeDhcpQuestion({
      type: "request",
      transactionId: 1,
      hardwareAddress: MAC,
      requestedAddress: ipAddress("192.0.2.9"),
      serverIdentifier: ipAddress("192.0.2.1"),
    });
    expect([...request.subarray(240, 256)]).toEqual([53, 1, 3, 50, 4, 192, 0, 2, 9, 54, 4, 192, 0, 2, 1, 255]);
  });

  it("divides a long value", () => {
    const octets = encodeOption(43, new Uint8Array(256).fill(7));
    expect([octets.length, octets[1], octets[257], octets[258]]).toEqual([260, 255, 43, 1]);
  });
});

describe("replies of DHCP servers", () => {
  it("reads an offer", () => {
    const options = [...OFFER, 54, 4, 192, 0, 2, 1, 51, 4, 0, 0, 14, 16, 1, 4, 255, 255, 255, 0];
    options.push(3, 4, 192, 0, 2, 254, 6, 8, 192, 0, 2, 1, 192, 0, 2, 2, 15, 4, 0x61, 0x2e, 0x62, 0, 67, 2, 0x78, 0x79, 255);
    expect(reply(options)).toEqual({
      type: "offer",
      transactionId: 0xdeadbeef,
      hardwareAddress: MAC,
      address: "192.0.2.77",
      nextServer: null,
      relayAddress: null,
      serverIdentifier: "192.0.2.1",
      leaseSeconds: 3600,
      subnetMask: "255.255.255.0",
      routers: ["192.0.2.254"],
      dnsServers: ["192.0.2.1", "192.0.2.2"],
      domainName: "a.b",
      bootFile: "xy",
    });
  });

  it("joins divided options, passes pads over and does without an end mark", () => {
    expect(reply([0, 0, ...OFFER, 6, 4, 192, 0, 2, 1, 6, 4, 192, 0, 2, 2, 0]).dnsServers).toEqual(["192.0.2.1", "192.0.2.2"]);
  });

  it("reads options in the lent header fields, and a file name where they are not lent", () => {
    const file = (octets: Uint8Array): void => octets.set([3, 4, 192, 0, 2, 7, 255], 108);
    const name = (octets: Uint8Array): void => octets.set([54, 4, 192, 0, 2, 8, 255], 44);
    const both = reply([...OFFER, 52, 1, 3, 255], (octets) => {
      file(octets);
      name(octets);
    });
    expect([both.routers, both.serverIdentifier, both.bootFile]).toEqual([["192.0.2.7"], "192.0.2.8", null]);
    const neither = reply([...OFFER, 255], (octets) => octets.set([0x70, 0x78, 0x65, 0, 0x7a], 108));
    expect([neither.bootFile, neither.serverIdentifier]).toEqual(["pxe", null]);
  });

  it("keeps values of a wrong length and hostile texts out", () => {
    const odd = reply([...OFFER, 54, 3, 192, 0, 2, 51, 2, 0, 1, 3, 5, 192, 0, 2, 1, 9, 15, 4, 0x61, 0x1b, 0x5b, 0x41, 255]);
    expect([odd.serverIdentifier, odd.leaseSeconds, odd.routers, odd.domainName]).toEqual([null, null, [], null]);
  });

  it("takes an address of another kind of hardware for none", () => {
    expect(reply([...OFFER, 255], (octets) => octets.set([32, 0], 1)).hardwareAddress).toBeNull();
  });

  it.each([
    ["wrong-length", packet(OFFER).subarray(0, 239)],
    ["wrong-length", new Uint8Array(16_385).fill(2)],
    ["not-a-reply", packet([...OFFER, 255], (octets) => (octets[0] = 1))],
    ["not-a-reply", packet([...OFFER, 255], (octets) => (octets[236] = 0))],
    ["malformed-options", packet([...OFFER, 6])],
    ["malformed-options", packet([...OFFER, 6, 9, 1])],
    ["malformed-options", packet([...OFFER, 52, 1, 1, 255], (octets) => octets.fill(7, 108, 236))],
    ["no-message-type", packet([255])],
    ["no-message-type", packet([53, 1, 1, 255])],
    ["no-message-type", packet([53, 2, 2, 2, 255])],
  ] as const)("refuses: %s", (why, octets) => {
    expect(decodeDhcpReply(octets)).toEqual({ ok: false, why });
  });

  it("never throws, whatever the octets", () => {
    const hostile = fc.uint8Array({ maxLength: 700 });
    fc.assert(fc.property(hostile, (tail) => decodeDhcpReply(packet([...OFFER, ...tail])) !== undefined));
    fc.assert(fc.property(hostile, (octets) => decodeDhcpReply(octets) !== undefined));
  });

  it("reads back what it encoded: a question with its first octet turned is a reply to it", () => {
    const question = encodeDhcpQuestion({
      type: "inform",
      transactionId: 42,
      hardwareAddress: MAC,
      relayAddress: ipAddress("192.0.2.3"),
    });
    question[0] = 2;
    question[242] = 5;
    const decoded = decodeDhcpReply(question);
    expect(decoded).toMatchObject({
      ok: true,
      reply: { type: "ack", transactionId: 42, hardwareAddress: MAC, address: null, relayAddress: "192.0.2.3" },
    });
  });
});
