import { fc, test as property } from "@fast-check/vitest";
import { describe, expect, it } from "vitest";
import { NO_JSON, parseTolerantJson } from "./tolerant-json.js";

describe("tolerant JSON", () => {
  property.prop([fc.jsonValue({ maxDepth: 5 })])("reads JSON as JSON.parse does", (value) => {
    for (const text of [JSON.stringify(value), JSON.stringify(value, null, 2)])
      expect(JSON.stringify(parseTolerantJson(text))).toBe(JSON.stringify(JSON.parse(text)));
  });

  it.each([
    ['[{"broadcast","dst":"127.0.0.0"}]', [{ broadcast: true, dst: "127.0.0.0" }]],
    ['{"iseq":true,"hwid":,"dir":}', { iseq: true, hwid: null, dir: null }],
    ['[{"a":1,},,{"b":2},]', [{ a: 1 }, { b: 2 }]],
    ['{"ifalias":"up\tlink","x":"a\\qb"}', { ifalias: "up link", x: "a\\qb" }],
    ['{"options":{flag},"n":-1.5e3}', { options: { flag: true }, n: -1500 }],
  ])("repairs %s", (text, value) => {
    expect(parseTolerantJson(text)).toEqual(value);
  });

  it.each(["", "[", '[{"a":1}', '{"a', '"a\\', "{]}", "[}", "[".repeat(1000)])("does not make up the end of %j", (text) => {
    expect(parseTolerantJson(text)).toBe(NO_JSON);
  });

  property.prop([fc.string({ unit: fc.constantFrom(...'[]{}",:\\a1 \n') })])("never throws and always ends", (text) => {
    parseTolerantJson(text);
  });
});
