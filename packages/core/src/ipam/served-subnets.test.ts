import { expect, test } from "vitest";
import { Desk, interfaceOf } from "../../../../test/fixtures/alloc/build.js";
import { servedSubnets } from "./served-subnets.js";

const own = ["10.0.3.1/24", "10.0.7.1/16", "10.0.9.9/32", "192.0.2.1/24"];

test("many subnets are looked up as few are looked at: those with a real address, in the order given", () => {
  const desk = new Desk();
  for (let i = 0; i < 12; i++) desk.declare({ prefix: `10.0.${11 - i}.0/24`, domain: `r${i}.example` });
  desk.declare({ prefix: "10.0.3.0/24", site: "west", domain: "west.example" });
  desk.declare({ prefix: "2001:db8::/64", domain: "six.example" });
  const all = [...desk.state.subnets.values()];
  for (const site of ["default", "west", "nowhere"]) {
    for (const addresses of [own, [...own, "2001:db8::1/64"], ["10.0.3.1/24", "10.0.3.9/32"], []]) {
      const rack = { site, interfaces: [interfaceOf("eth0", ...addresses)] };
      const oneByOne = all.filter((subnet) => servedSubnets([subnet], rack).length > 0);
      expect(servedSubnets(all, rack)).toEqual(oneByOne);
    }
  }
  const rack = { site: "default", interfaces: [interfaceOf("eth0", ...own)] };
  expect(servedSubnets(all, rack).map(({ prefix }) => prefix)).toEqual(["10.0.7.0/24", "10.0.3.0/24"]);
});
