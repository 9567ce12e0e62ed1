import { describe, expect, it } from "vitest";
import { ipAddress } from "../address/ip.js";
import type { LeaseReport } from "./messages.js";
import { emptyReportedFacts, mergeObservation, type Observation } from "./reported-facts.js";

const lease = (address: string): LeaseReport => ({
  address: ipAddress(address),
  state: "active",
  inUse: true,
  allocatable: false,
  hardwareAddress: null,
  dnsLabel: null,
  starts: null,
  ends: null,
});

type Page = Extract<Observation, { readonly type: "leases" }>["page"];

function page(kind: Page, ...addresses: string[]): Observation {
  return { type: "leases", sequence: 1, page: kind, leases: addresses.map(lease), gone: [] };
}

describe("mergeObservation", () => {
  it("shows the old leases until the last page of the new ones", () => {
    const facts = emptyReportedFacts();
    mergeObservation(facts, page("whole", "192.0.2.1"), 0);
    mergeObservation(facts, page("begin", "192.0.2.2"), 0);
    mergeObservation(facts, page("more", "192.0.2.3"), 0);
    expect([...facts.leases.keys()]).toEqual(["192.0.2.1"]);
    expect(mergeObservation(facts, page("end", "192.0.2.4"), 0).change.kind).toBe("leases-replaced");
    expect([...facts.leases.keys()]).toEqual(["192.0.2.2", "192.0.2.3", "192.0.2.4"]);
  });

  it("names a page without a beginning and keeps what it has", () => {
    const facts = emptyReportedFacts();
    mergeObservation(facts, page("whole", "192.0.2.1"), 0);
    expect(mergeObservation(facts, page("end", "192.0.2.9"), 0)).toMatchObject({
      change: { kind: "nothing" },
      problems: [{ code: "page-out-of-order" }],
    });
    expect(facts.leases.size).toBe(1);
  });

  it("an empty report of interfaces is no report, and the old one keeps its time", () => {
    const facts = emptyReportedFacts();
    const nic = {
      name: "eth0",
      index: 2,
      parent: null,
      kind: null,
      vlanId: null,
      hardwareAddress: null,
      permanentAddress: null,
      flags: [],
      mtu: null,
      addresses: [],
    };
    mergeObservation(facts, { type: "interfaces", sequence: 1, interfaces: [nic], knowledge: null }, 1_000);
    expect(
      mergeObservation(facts, { type: "interfaces", sequence: 2, interfaces: [], knowledge: null }, 2_000).problems,
    ).toMatchObject([{ code: "report-empty" }]);
    expect(facts).toMatchObject({ interfaces: [nic], interfacesAt: 1_000 });
  });

  it("a status written before a receipt does not take the generation back", () => {
    const facts = emptyReportedFacts();
    facts.accepted = 7;
    mergeObservation(facts, { type: "status", sequence: 1, accepted: 6, daemons: [], problems: [], ntp: null }, 0);
    expect(facts.accepted).toBe(7);
  });
});
