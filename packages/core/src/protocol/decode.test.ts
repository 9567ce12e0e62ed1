import { describe, expect, it } from "vitest";
import { decodeAgentMessage, decodeCoordinatorMessage } from "./decode.js";
import { LEASES_PER_FRAME_MAX } from "./messages.js";

const LEASE = {
  address: "192.0.2.7",
  state: "active",
  inUse: true,
  allocatable: false,
  hardwareAddress: "02:00:00:00:00:01",
  dnsLabel: null,
  starts: 1,
  ends: "never",
};

describe("decodeAgentMessage", () => {
  it("takes a message as it is", () => {
    const message = { type: "leases", sequence: 4, page: "delta", leases: [LEASE], gone: ["2001:db8::1"] };
    expect(decodeAgentMessage(message)).toEqual({ kind: "message", message, dropped: [] });
  });

  it("leaves out members that it does not know", () => {
    const decoded = decodeAgentMessage({ type: "renew", request: "pem", mood: "good" });
    expect(decoded).toEqual({ kind: "message", message: { type: "renew", request: "pem" }, dropped: [] });
  });

  it("drops bad items of a list, each with its place, and keeps the others", () => {
    const decoded = decodeAgentMessage({
      type: "leases",
      sequence: 4,
      page: "delta",
      leases: [LEASE, { ...LEASE, state: "melted" }, null],
      gone: ["192.0.2.300", "192.0.2.9"],
    });
    expect(decoded).toMatchObject({ kind: "message", message: { leases: [LEASE], gone: ["192.0.2.9"] } });
    expect(decoded.kind === "message" && decoded.dropped.map(({ at }) => at)).toEqual([
      "leases.leases.1.state",
      "leases.leases.2",
      "leases.gone.0",
    ]);
  });

  it.each([{ ends: 8_640_000_000_001 }, { ends: -1 }, { starts: 4_294_967_296 }, { starts: -1 }])(
    "drops a lease with %o, which is no date",
    (times) => {
      const decoded = decodeAgentMessage({
        type: "leases",
        sequence: 4,
        page: "delta",
        leases: [LEASE, { ...LEASE, ...times }],
        gone: [],
      });
      expect(decoded).toMatchObject({ kind: "message", message: { leases: [LEASE] }, dropped: [{}] });
    },
  );

  it("keeps an interface that has no hardware address, drops one that has no name", () => {
    const nic = {
      name: "ib0",
      index: null,
      parent: null,
      kind: null,
      vlanId: null,
      permanentAddress: null,
      flags: [],
      mtu: null,
      addresses: [],
    };
    const decoded = decodeAgentMessage({
      type: "interfaces",
      sequence: 1,
      interfaces: [
        { ...nic, hardwareAddress: null },
        { ...nic, name: "", hardwareAddress: null },
      ],
    });
    expect(decoded).toMatchObject({ kind: "message", message: { interfaces: [{ name: "ib0" }] } });
  });

  it("refuses a known message whose frame is wrong, with its sequence", () => {
    const message = { type: "leases", sequence: 9, page: "last", leases: [], gone: [] };
    expect(decodeAgentMessage(message)).toMatchObject({
      kind: "invalid",
      type: "leases",
      sequence: 9,
      problems: [{ at: "leases.page" }],
    });
    const many = { ...message, page: "delta", leases: new Array(LEASES_PER_FRAME_MAX + 1).fill(LEASE) };
    expect(decodeAgentMessage(many)).toMatchObject({ kind: "invalid", sequence: 9 });
    expect(decodeAgentMessage({ ...message, sequence: 1.5 })).toMatchObject({ kind: "invalid", sequence: null });
  });

  it("ignores what a newer agent may say", () => {
    expect(decodeAgentMessage({ type: "weather", sunny: true })).toEqual({ kind: "unknown", type: "weather" });
  });

  it.each([[null], [7], ["hello"], [[]], [{}], [{ type: 7 }]])("calls %j no message", (value) => {
    expect(decodeAgentMessage(value)).toMatchObject({ kind: "invalid", type: "", sequence: null });
  });
});

describe("decodeCoordinatorMessage", () => {
  it("takes a desired state whole or not at all", () => {
    const state = { format: 1, rack: "r", generation: 1, subnets: [], zones: [], queryFrom: ["192.0.2.0/24"], forwarders: [] };
    expect(decodeCoordinatorMessage({ type: "desired", state })).toMatchObject({ kind: "message" });
    const bad = { ...state, queryFrom: ["192.0.2.0/24", "192.0.2.1/24"] };
    expect(decodeCoordinatorMessage({ type: "desired", state: bad })).toMatchObject({ kind: "invalid", type: "desired" });
  });

  it("does not take an agent's message for a coordinator's", () => {
    expect(decodeCoordinatorMessage({ type: "hello" })).toEqual({ kind: "unknown", type: "hello" });
  });
});
