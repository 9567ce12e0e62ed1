import { decodeArp, encodeArp } from "./ethernet.js";
import type { FramePump } from "./frame-pump.js";

const UNSPECIFIED = "0.0.0.0";

/** Asks twice who has the address, as one who has none itself yet (RFC 5227 §1.1), and collects all answers until the time is over. */
export async function probeAddress(
  pump: FramePump,
  probe: { readonly address: string; readonly mac: string; readonly waitMs: number },
): Promise<string[]> {
  const macs = new Set<string>();
  const stop = pump.onFrame((frame) => {
    const arp = decodeArp(frame);
    if (arp?.senderAddress === probe.address && arp.senderMac !== probe.mac) macs.add(arp.senderMac);
  });
  const request = encodeArp({
    operation: "request",
    senderMac: probe.mac,
    senderAddress: UNSPECIFIED,
    targetMac: "00:00:00:00:00:00",
    targetAddress: probe.address,
  });
  for (let sent = 0; sent < 2; sent++) {
    pump.send(request);
    await new Promise((resolve) => setTimeout(resolve, probe.waitMs / 2));
  }
  stop();
  return [...macs].sort();
}
