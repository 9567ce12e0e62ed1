import { decode, encode } from "@msgpack/msgpack";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { AGENT_FRAME_LIMITS, checkFrame, FRAME_CODEC } from "./frame.js";

const LIMITS = AGENT_FRAME_LIMITS;
const bytes = (...octets: number[]): Uint8Array => Uint8Array.from(octets);

describe("checkFrame", () => {
  it("accepts what the encoder writes", () => {
    const leaf = fc.oneof(
      fc.string(),
      fc.integer(),
      fc.double(),
      fc.boolean(),
      fc.constant(null),
      fc.uint8Array({ maxLength: 64 }),
      fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
    );
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof(
        { depthSize: "small" },
        leaf,
        fc.array(tie("tree"), { maxLength: 20 }),
        fc.dictionary(
          fc.string().filter((key) => key !== "__proto__"),
          tie("tree"),
          { maxKeys: 20 },
        ),
      ),
    }));
    const shallow = { ...LIMITS, depth: 200 };
    fc.assert(
      fc.property(tree, (value) => {
        expect(checkFrame(encode(value, { ...FRAME_CODEC.encode, maxDepth: 100 }), shallow)).toBeNull();
      }),
    );
  });

  it("refuses whatever the decoder would refuse as malformed, and never throws", () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 0, maxLength: 64 }), (frame) => {
        if (checkFrame(frame, LIMITS) !== null) return;
        expect(() => decode(frame, { useBigInt64: true })).not.toThrow(RangeError);
      }),
      { numRuns: 2_000 },
    );
  });

  it.each([
    ["nothing", bytes()],
    ["a reserved head", bytes(0xc1)],
    ["an array that announces more than there is", bytes(0xdd, 0xff, 0xff, 0xff, 0xff)],
    ["a map that announces more than there is", bytes(0xdf, 0xff, 0xff, 0xff, 0xff)],
    ["a text longer than the frame", bytes(0xdb, 0xff, 0xff, 0xff, 0xff, 0x61)],
    ["a size field cut short", bytes(0xdc, 0x00)],
    ["an extension", bytes(0xd4, 0x01, 0x00)],
    ["two values", bytes(0x01, 0x02)],
    ["nesting without end", new Uint8Array(100_000).fill(0x91)],
  ])("refuses %s", (_what, frame) => {
    expect(checkFrame(frame, LIMITS)).toMatchObject({ code: "frame-unreadable" });
  });

  it("counts octets, items and depth exactly", () => {
    const three = encode([1, 2]);
    expect(checkFrame(three, { bytes: 3, items: 3, depth: 2 })).toBeNull();
    expect(checkFrame(three, { bytes: 2, items: 3, depth: 2 })?.message).toContain("more than 2");
    expect(checkFrame(three, { bytes: 3, items: 2, depth: 2 })?.message).toContain("more than 2 items");
    expect(checkFrame(three, { bytes: 3, items: 3, depth: 1 })?.message).toContain("deeper than 1");
  });
});
