import { describe, expect, it } from "vitest";
import { ipAddress } from "../address/ip.js";
import { hardwareAddressSchema } from "../desired/schema.js";
import { parseNeighbors } from "../interface/parse-neighbors.js";
import { arpingAnswers, arpingArgv, arpingFlavor } from "./arping.js";
import { answeringNeighbors, confirmedNeighbors, type WireAnswer } from "./wire-answer.js";
import { WireBook } from "./wire-book.js";

const ADDRESS = ipAddress("192.168.50.9");
const A = hardwareAddressSchema.parse("02:00:5e:00:53:0a");
const B = hardwareAddressSchema.parse("02:00:5e:00:53:0b");
const HOUR = 3_600_000;

describe("the two arpings of Debian", () => {
  it("are told apart by their usage", () => {
    expect(arpingFlavor("  -D            duplicate address detection mode\n")).toBe("iputils");
    expect(arpingFlavor("ARPing 2.22, by Thomas Habets <thomas@habets.se>\nusage: arping [ -0aAbdD ...")).toBe("habets");
    expect(arpingFlavor("BusyBox v1.35")).toBeNull();
  });

  it("are asked for a probe without a sender", () => {
    const question = { interfaceName: "eth0", address: ADDRESS };
    expect(arpingArgv("iputils", question).join(" ")).toBe("arping -b -s 0.0.0.0 -c 2 -w 2 -I eth0 192.168.50.9");
    expect(arpingArgv("habets", question).join(" ")).toBe("arping -0 -c 2 -w 2 -I eth0 192.168.50.9");
  });

  it("name everybody who answered, once", () => {
    const iputils = `ARPING 192.168.50.9 from 0.0.0.0 eth0
Unicast reply from 192.168.50.9 [02:00:5E:00:53:0B]  0.537ms
Unicast reply from 192.168.50.9 [02:00:5E:00:53:0A]  0.547ms
Unicast reply from 192.168.50.9 [02:00:5E:00:53:0B]  0.571ms
Sent 2 probes (2 broadcast(s))
Received 3 response(s)
`;
    expect(arpingAnswers(iputils)).toEqual([A, B]);
    const habets = `ARPING 192.168.50.9
60 bytes from 02:00:5e:00:53:0a (192.168.50.9): index=0 time=9.057 usec
`;
    expect(arpingAnswers(habets)).toEqual([A]);
    expect(
      arpingAnswers("ARPING 192.168.50.9 from 0.0.0.0 eth0\nSent 2 probes (2 broadcast(s))\nReceived 0 response(s)\n"),
    ).toEqual([]);
    expect(arpingAnswers(Array.from({ length: 99 }, (_, n) => `[02:00:00:00:00:${(n + 100).toString(16)}]`).join())).toHaveLength(
      8,
    );
  });
});

describe("neighbours", () => {
  const table = parseNeighbors(
    JSON.stringify(
      ["REACHABLE", "STALE", "DELAY", "PERMANENT", "NOARP"].map((state, n) => ({
        dst: `192.168.50.${n + 1}`,
        dev: n === 0 ? "eth0" : "eth1",
        lladdr: A,
        state: [state],
      })),
    ),
  );
  const neighbors = table.ok ? table.value : [];
  const last = (list: typeof neighbors): string[] => list.map(({ address }) => address.slice(-1));

  it("are believed unasked only where the kernel has just confirmed them, on the interfaces that matter", () => {
    expect(last(confirmedNeighbors(neighbors, new Set(["eth0", "eth1"])))).toEqual(["1"]);
    expect(last(confirmedNeighbors(neighbors, new Set(["eth1"])))).toEqual([]);
  });

  it("count after a flush unless they are pinned", () => {
    expect(last(answeringNeighbors(neighbors))).toEqual(["1", "2", "3"]);
  });
});

describe("what a rack tells of its wires", () => {
  const answer = (change: Partial<WireAnswer> = {}): WireAnswer => ({
    address: ADDRESS,
    hardwareAddresses: [A],
    at: HOUR,
    how: "neighbor",
    ...change,
  });

  it("tells a neighbour once an hour, and a change at once", () => {
    const book = new WireBook();
    expect(book.note([answer()])).toHaveLength(1);
    expect(book.note([answer({ at: HOUR + 60_000 })])).toHaveLength(0);
    expect(book.note([answer({ at: HOUR + 60_000, hardwareAddresses: [B] })])).toHaveLength(1);
    expect(book.note([answer({ at: 2 * HOUR + 60_000, hardwareAddresses: [B] })])).toHaveLength(1);
    expect(book.note([answer({ at: 60_000, hardwareAddresses: [B] })])).toHaveLength(1);
  });

  it("tells every probe and knows when it was", () => {
    const book = new WireBook();
    expect(book.probedAt(ADDRESS)).toBeNull();
    const silent = answer({ how: "probe", hardwareAddresses: [] });
    expect([book.note([silent]), book.note([silent])]).toEqual([[silent], [silent]]);
    expect(book.probedAt(ADDRESS)).toBe(HOUR);
    expect(book.all()).toEqual([silent]);
  });

  it("holds a probe for nothing once a neighbour contradicts it", () => {
    const book = new WireBook();
    book.note([answer({ how: "probe" }), answer({ at: HOUR + 1 })]);
    expect(book.probedAt(ADDRESS)).toBe(HOUR);
    book.note([answer({ at: HOUR + 2, hardwareAddresses: [B] })]);
    expect(book.probedAt(ADDRESS)).toBeNull();
  });

  it("keeps the newest 16,384", () => {
    const book = new WireBook();
    const many = Array.from({ length: 16_385 }, (_, n) =>
      answer({ address: ipAddress(`10.0.${n >> 8}.${n & 255}`), how: "probe" }),
    );
    book.note(many);
    expect(book.all()).toHaveLength(16_384);
    expect([book.probedAt(ipAddress("10.0.0.0")), book.probedAt(ipAddress("10.0.0.1"))]).toEqual([null, HOUR]);
  });
});
