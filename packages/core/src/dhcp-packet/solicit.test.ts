import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { addressBytes, ipAddress } from "../address/ip.js";
import { advertisedOffer } from "../foreign-dhcp/foreign-servers.js";
import { option6 } from "./options6.js";
import { QUESTION_HARDWARE_ADDRESS } from "./question-hardware-address.js";
import { decodeAdvertise, encodeSolicit } from "./solicit.js";

const ADDRESS = ipAddress("2001:db8::100");
const DNS = ipAddress("2001:db8::53");
const HEAD = [2, 0x12, 0x34, 0x56];
const SERVER_LLT = option6(2, [0, 1, 0, 1, 1, 2, 3, 4, 0x02, 0, 0x5e, 0, 0x53, 7]);
const IA = option6(3, [
  0,
  0,
  0,
  1,
  0,
  0,
  0,
  0,
  0,
  0,
  0,
  0,
  ...option6(5, [...addressBytes(ADDRESS), 0, 0, 1, 0x2c, 0, 0, 0x02, 0x58]),
]);

describe("SOLICIT", () => {
  it("is encoded octet by octet (RFC 8415 §8)", () => {
    const duid = [0, 1, 0, 10, 0, 3, 0, 1, 0x02, 0x62, 0x65, 0x72, 0x74, 0x68];
    const ia = [0, 3, 0, 12, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0];
    const expected = [1, 0x12, 0x34, 0x56, ...duid, ...ia, 0, 6, 0, 2, 0, 23, 0, 8, 0, 2, 0, 0];
    expect([...encodeSolicit(0x123456, QUESTION_HARDWARE_ADDRESS)]).toEqual(expected);
  });
});

describe("ADVERTISE", () => {
  it("tells what the server gives and for how long", () => {
    expect(decodeAdvertise(Uint8Array.from([...HEAD, ...SERVER_LLT, ...IA, ...option6(23, [...addressBytes(DNS)])]))).toEqual({
      transactionId: 0x123456,
      address: ADDRESS,
      leaseSeconds: 600,
      dnsServers: [DNS],
    });
  });

  it("without an address, as our own racks answer each other, is no offer", () => {
    const status = option6(3, [0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, ...option6(13, [0, 2])]);
    const none = decodeAdvertise(Uint8Array.from([...HEAD, ...option6(2, [0, 2, 0, 0, 1]), ...status]));
    expect(none).toMatchObject({ address: null, leaseSeconds: null });
    const at = { interfaceName: "eth0", source: ipAddress("fe80::1") };
    expect(none === null ? undefined : advertisedOffer(none, at)).toBeNull();
    const some = decodeAdvertise(Uint8Array.from([...HEAD, ...IA]));
    expect(some === null ? null : advertisedOffer(some, at)).toMatchObject({ ...at, reply: { type: "offer", address: ADDRESS } });
  });

  it.each([
    ["nothing", []],
    ["a REPLY", [7, 1, 2, 3, ...IA]],
    ["an option that is cut", [...HEAD, 0, 3, 0, 40, 1]],
    ["half an option's head", [...HEAD, 0, 3, 0]],
    ["more than any server sends", [...HEAD, ...new Array<number>(16_384).fill(0)]],
  ])("is not %s", (_, octets) => {
    expect(decodeAdvertise(Uint8Array.from(octets))).toBeNull();
  });

  it("never throws, whatever the octets", () => {
    const hostile = fc.uint8Array({ maxLength: 300 });
    fc.assert(fc.property(hostile, (tail) => decodeAdvertise(Uint8Array.from([...HEAD, ...tail])) !== undefined));
    const inIa = fc.property(
      hostile,
      (tail) => decodeAdvertise(Uint8Array.from([...HEAD, ...option6(3, [...tail])])) !== undefined,
    );
    fc.assert(inIa);
  });
});
