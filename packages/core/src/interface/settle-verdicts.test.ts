import { describe, expect, it } from "vitest";
import { classify } from "./classify.js";
import { parseInterfaces } from "./parse-interfaces.js";
import { SETTLE_MS, settleVerdicts, standingVerdict, type SettledVerdict } from "./settle-verdicts.js";
import type { AddressVerdict } from "./verdict.js";

const REAL = "2: eth0    inet 10.0.0.5/24 scope global eth0";
const VIP = "2: eth0    inet 10.0.0.28/32 scope global eth0";
const MARKED = "2: eth0    inet 10.0.0.28/32 scope global eth0:vip";

function scan(...lines: readonly string[]): readonly AddressVerdict[] {
  const interfaces = parseInterfaces(lines.join("\n"));
  return interfaces.ok ? classify(interfaces.value).verdicts : [];
}

const classAt = (settled: ReadonlyMap<string, SettledVerdict>, now: number): string | undefined => {
  const found = settled.get("eth0 10.0.0.28/32");
  return found === undefined ? undefined : standingVerdict(found, now).class;
};

describe("a class over several scans", () => {
  it("starts with what the first scan says", () => {
    expect(classAt(settleVerdicts(new Map(), scan(REAL, VIP), 0), 0)).toBe("vip");
  });

  it("changes with the second equal scan, not with the first", () => {
    const first = settleVerdicts(new Map(), scan(REAL, VIP), 0);
    const once = settleVerdicts(first, scan(VIP), 100);
    expect(classAt(once, 100)).toBe("vip");
    expect(classAt(settleVerdicts(once, scan(VIP), 200), 200)).toBe("real");
    expect(classAt(settleVerdicts(once, scan(REAL, VIP), 200), 200 + SETTLE_MS)).toBe("vip");
  });

  it("changes when nothing corrected the scan for the settling time", () => {
    const once = settleVerdicts(settleVerdicts(new Map(), scan(REAL, VIP), 0), scan(VIP), 100);
    expect(classAt(once, 100 + SETTLE_MS - 1)).toBe("vip");
    expect(classAt(once, 100 + SETTLE_MS)).toBe("real");
  });

  it("changes at once by a sure mark", () => {
    const alone = settleVerdicts(new Map(), scan(VIP), 0);
    expect(classAt(alone, 0)).toBe("real");
    expect(classAt(settleVerdicts(alone, scan(MARKED), 1), 1)).toBe("vip");
  });

  it("forgets an address that is gone", () => {
    const gone = settleVerdicts(settleVerdicts(new Map(), scan(REAL, VIP), 0), scan(REAL), 1);
    expect(classAt(gone, 1)).toBeUndefined();
  });
});
