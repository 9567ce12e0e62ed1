import { fc, test } from "@fast-check/vitest";
import { expect, it } from "vitest";
import { domainToASCII } from "node:url";
import { toALabels } from "./a-label.js";
import { checkHostName } from "./host-name.js";

it.each([
  ["bücher", "xn--bcher-kva"],
  ["Bücher.Example", "xn--bcher-kva.Example"],
  ["Ünïcödé", "xn--ncd-dma1a7bzb"],
  ["straße", "xn--strae-oqa"],
  ["例え.テスト", "xn--r8jz45g.xn--zckzah"],
  ["u\u0308ber", "xn--ber-goa"],
  ["plain-1", "plain-1"],
])("writes %s as %s", (name, label) => {
  expect(toALabels(name)).toBe(label);
});

it.each(["שלום", "عرب", "-ü", "ü-", "ab--ü", "\u0308u", "ü!", "ü b", "①", "ﬁn"])("leaves %s for the checks to refuse", (name) => {
  expect(toALabels(name)).toBe(name);
  expect(checkHostName(toALabels(name)).map(({ code }) => code)).toEqual(["label-not-ascii"]);
});

const letters = "abcxyz0159äöüßéñçøłšžčαβγδωжщыяあいうえお漢字한국";
test.prop([fc.array(fc.constantFrom(...letters), { minLength: 1, maxLength: 12 })])(
  "agrees with the resolver of Node",
  (parts) => {
    const name = `x${parts.join("")}`;
    expect(toALabels(name)).toBe(domainToASCII(name.toLowerCase()) || name);
  },
);
