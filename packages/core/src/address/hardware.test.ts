import { expect, it } from "vitest";
import { parseHardwareAddress } from "./hardware.js";

it.each(["02:00:5e:0a:01:02", "02:00:5E:0a:1:2", " 02-00-5e-0a-01-02\n", "0200.5e0a.0102", "02005e0a0102"])(
  "reads %j",
  (text) => {
    expect(parseHardwareAddress(text)).toBe("02:00:5e:0a:01:02");
  },
);

it.each(["02:00:5e:0a:01:0g", "02:00:5e:0a:01:02:", "02:00:5e:0a:01-02", "02:00:5e:0a:01:021", "", "02"])(
  "takes %j for none",
  (text) => {
    expect(parseHardwareAddress(text)).toBeNull();
  },
);

it("reads addresses of other lengths, up to twenty octets", () => {
  const infiniband = Array.from({ length: 20 }, () => "0a").join(":");
  expect(parseHardwareAddress("a:b")).toBe("0a:0b");
  expect(parseHardwareAddress(infiniband)).toBe(infiniband);
  expect(parseHardwareAddress(`${infiniband}:0a`)).toBeNull();
});
