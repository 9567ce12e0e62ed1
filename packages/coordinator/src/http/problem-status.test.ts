import { expect, it } from "vitest";
import { problemStatus } from "./problem-status.js";

it.each([
  [400, ["prefix-malformed", "prefix-host-bits"]],
  [404, ["subnet-unknown", "machine-unknown", "rack-unknown"]],
  [
    409,
    [
      ...[
        "address-taken",
        "address-resting",
        "address-held-by-lease",
        "address-held-by-rack",
        "name-taken",
        "name-premade-of-other",
      ],
      ...["nic-on-two-machines", "machine-has-address", "machine-named-otherwise", "machine-ambiguous", "domain-ambiguous"],
      ...["subnet-overlaps", "subnet-overlaps-pool", "enlistment-pool-overlaps", "subnet-in-use", "subnet-exhausted"],
      ...["window-over-allocations", "gateway-allocated", "rack-known", "domain-taken", "domain-premade-taken"],
    ],
  ],
  [422, ["window-outside", "label-too-long", "name-reserved", "address-is-gateway", "address-in-window", "machine-not-seen"]],
])("%i", (status, codes) => {
  expect(codes.map((code) => problemStatus({ code, at: "x", message: "x" }))).toEqual(codes.map(() => status));
});
