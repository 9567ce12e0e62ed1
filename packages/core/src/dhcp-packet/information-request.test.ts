import { describe, expect, it } from "vitest";
import { QUESTION_HARDWARE_ADDRESS } from "./question-hardware-address.js";
import { encodeInformationRequest, isReplyTo } from "./information-request.js";

describe("INFORMATION-REQUEST", () => {
  it("is encoded octet by octet (RFC 8415 §8)", () => {
    const duid = [0, 1, 0, 10, 0, 3, 0, 1, 0x02, 0x62, 0x65, 0x72, 0x74, 0x68];
    const expected = [11, 0x12, 0x34, 0x56, ...duid, 0, 6, 0, 2, 0, 23, 0, 8, 0, 2, 0, 0];
    expect([...encodeInformationRequest(0x123456, QUESTION_HARDWARE_ADDRESS)]).toEqual(expected);
  });

  it("knows its own reply", () => {
    expect(isReplyTo(Uint8Array.of(7, 0x12, 0x34, 0x56, 0, 1), 0x123456)).toBe(true);
    for (const other of [[7, 0x12, 0x34, 0x57], [11, 0x12, 0x34, 0x56], [7, 0x12], []])
      expect(isReplyTo(Uint8Array.from(other), 0x123456)).toBe(false);
  });
});
