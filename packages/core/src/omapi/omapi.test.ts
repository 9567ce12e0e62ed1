import { createHmac } from "node:crypto";
import { fc, test } from "@fast-check/vitest";
import { describe, expect, it } from "vitest";
import { encodeOmapi } from "./encode-message.js";
import { omapiNumber, omapiText, type OmapiMessage } from "./message.js";
import { readOmapiFailover, readOmapiLease } from "./objects.js";
import { OmapiReader } from "./omapi-reader.js";
import { endLease, omapiRefusal, openAuthenticator, openLease } from "./requests.js";
import { ipAddress } from "../address/ip.js";

const sign = (octets: Uint8Array): Uint8Array => createHmac("sha256", "secret").update(octets).digest();
const HELLO = Uint8Array.of(0, 0, 0, 100, 0, 0, 0, 24);

function readerOf(octets: Uint8Array, authenticator = 0): OmapiReader {
  const reader = new OmapiReader(sign);
  reader.require(authenticator);
  reader.push(HELLO);
  reader.push(octets);
  return reader;
}

const codeOf = (reader: OmapiReader): string | undefined => {
  const next = reader.next();
  return next.ok ? undefined : next.problems[0]?.code;
};

const word = fc.integer({ min: 0, max: 0xffffffff });
const values = fc
  .array(fc.tuple(fc.stringMatching(/^[a-z][a-z-]{0,20}$/), fc.uint8Array({ maxLength: 40 })), { maxLength: 8 })
  .map((entries) => new Map(entries));
const message = fc.record({
  authenticator: word,
  operation: word,
  handle: word,
  transaction: word,
  answers: word,
  message: values,
  object: values,
});

describe("OMAPI messages", () => {
  it("look on the wire as dhcpd has them", () => {
    const octets = encodeOmapi({ ...openLease(ipAddress("192.168.50.100")), authenticator: 0, transaction: 5, answers: 0 }, sign);
    expect(Buffer.from(octets).toString("hex")).toBe(
      [
        "00000000 00000000 00000001 00000000 00000005 00000000",
        "0004 74797065 00000005 6c65617365 0000",
        "000a 69702d61646472657373 00000004 c0a83264 0000",
      ]
        .join("")
        .replaceAll(" ", ""),
    );
  });

  test.prop([fc.array(message, { minLength: 1, maxLength: 3 }), fc.infiniteStream(fc.integer({ min: 1, max: 30 }))])(
    "come back whole from any chunking",
    (messages, sizes) => {
      for (const sent of messages) {
        const octets = encodeOmapi(sent, sign);
        const reader = new OmapiReader(sign);
        reader.require(sent.authenticator);
        const all = Buffer.concat([HELLO, octets]);
        const got: OmapiMessage[] = [];
        for (let at = 0; at < all.length; ) {
          const size = sizes.next().value as number;
          reader.push(all.subarray(at, at + size));
          at += size;
          const next = reader.next();
          if (!next.ok) throw new Error(next.problems[0]?.message);
          if (next.value !== null) got.push(next.value);
        }
        expect(got).toEqual([sent]);
      }
    },
  );

  test.prop([message, fc.nat(), fc.integer({ min: 1, max: 255 })])(
    "with one octet changed are never taken",
    (sent, place, change) => {
      const signed = { ...sent, authenticator: 7 };
      const octets = encodeOmapi(signed, sign);
      const at = place % octets.length;
      octets[at] = (octets[at] ?? 0) ^ change;
      const next = readerOf(octets, 7).next();
      if (next.ok) expect(next.value).toBeNull(); // a longer length: it waits for the rest
    },
  );

  test.prop([fc.uint8Array({ maxLength: 400 })])("of any octets neither throw nor are taken unsigned", (octets) => {
    const next = readerOf(octets, 7).next();
    expect(next.ok ? next.value : null).toBeNull();
  });

  it("have limits", () => {
    const base = { authenticator: 0, operation: 3, handle: 1, transaction: 1, answers: 1, message: new Map() };
    const many = new Map(Array.from({ length: 300 }, (_, index) => [`v${index}`, new Uint8Array(0)]));
    const large = new Map(["a", "b"].map((name) => [name, new Uint8Array(60_000)]));
    const header = new Uint8Array(24);
    const length = Uint8Array.of(...header, 0, 1, 0x61, 0xff, 0xff, 0xff, 0xff);
    const name = Uint8Array.of(...header, 0xff, 0xff);
    const signature = Uint8Array.of(0, 0, 0, 0, 0, 0, 0, 64, ...new Uint8Array(16), 0, 0, 0, 0);
    for (const octets of [encodeOmapi({ ...base, object: many }, sign), length, name, signature])
      expect(codeOf(readerOf(octets))).toBe("omapi-garbled");
    const unfinished = encodeOmapi({ ...base, object: large }, sign).subarray(0, 100_000);
    expect(codeOf(readerOf(unfinished))).toBe("omapi-garbled");
  });

  it("are taken from nobody but the one with the key", () => {
    const answer = {
      authenticator: 7,
      operation: 3,
      handle: 1,
      transaction: 1,
      answers: 1,
      message: new Map(),
      object: new Map(),
    };
    expect(codeOf(readerOf(encodeOmapi({ ...answer, authenticator: 0 }, sign), 7))).toBe("omapi-forged");
    expect(codeOf(readerOf(encodeOmapi({ ...answer, authenticator: 8 }, sign), 7))).toBe("omapi-forged");
    expect(
      codeOf(
        readerOf(
          encodeOmapi(answer, () => new Uint8Array(32)),
          7,
        ),
      ),
    ).toBe("omapi-forged");
    const other = new OmapiReader(sign);
    other.push(Uint8Array.of(0, 0, 0, 101, 0, 0, 0, 24));
    expect(codeOf(other)).toBe("omapi-garbled");
  });
});

describe("OMAPI objects", () => {
  const answer = { authenticator: 0, operation: 3, handle: 9, transaction: 1, answers: 1, message: new Map() };

  it("are leases and failover relations", () => {
    const lease = new Map([
      ["ip-address", Uint8Array.of(192, 168, 50, 100)],
      ["state", omapiNumber(2)],
      ["hardware-address", Uint8Array.of(2, 0, 0x5e, 0, 0x53, 1)],
      ["starts", omapiNumber(100)],
      ["ends", omapiNumber(700)],
    ]);
    const hardwareAddress = "02:00:5e:00:53:01";
    expect(readOmapiLease({ ...answer, object: lease })).toEqual({
      handle: 9,
      address: "192.168.50.100",
      state: "active",
      hardwareAddress,
      starts: 100,
      ends: 700,
    });
    expect(readOmapiLease({ ...answer, object: new Map([["state", omapiNumber(99)]]) })).toMatchObject({ state: "unknown" });
    const failover = new Map([
      ["name", omapiText("pair")],
      ["local-state", omapiNumber(4)],
      ["partner-state", omapiNumber(3)],
    ]);
    expect(readOmapiFailover({ ...answer, object: failover })).toEqual({
      handle: 9,
      name: "pair",
      localState: "partner-down",
      partnerState: "communications-interrupted",
    });
  });

  it("are asked for and refused by status", () => {
    const status = (result: number): OmapiMessage => ({
      ...answer,
      operation: 5,
      message: new Map([
        ["result", omapiNumber(result)],
        ["message", omapiText("because\u0007")],
      ]),
      object: new Map(),
    });
    expect(omapiRefusal(status(0), "x")).toBeNull();
    expect(omapiRefusal(status(23), "x")).toMatchObject({ code: "omapi-not-found", message: "dhcpd has none: because?" });
    expect(omapiRefusal(status(6), "x")).toMatchObject({ code: "omapi-refused", message: "dhcpd refused: because? (6)" });
    expect(omapiRefusal({ ...answer, operation: 4, object: new Map() }, "x")?.code).toBe("omapi-refused");
    expect([...openAuthenticator().object.keys()]).toEqual(["name", "algorithm"]);
    expect(endLease(9, 700).object.get("ends")).toEqual(omapiNumber(700));
  });
});
