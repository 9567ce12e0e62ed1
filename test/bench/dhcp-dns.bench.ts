import { measureServe } from "./dhcp-serve.js";
import { measureText } from "./dhcp-text.js";
import type { Benchmark, Measurement } from "./measurement.js";

const TEXT_HOSTS = 50_000;
const SERVED_HOSTS = 10_000;

export const benchmark: Benchmark = {
  name: "dhcp-dns",
  run: async () => [await text(), await serve()],
};

async function text(): Promise<Measurement> {
  const { oursMs, checkMs } = await measureText(TEXT_HOSTS);
  return {
    metric: `${TEXT_HOSTS} hosts: desired state to text to durable file`,
    unit: "ms",
    ours: oursMs,
    anchor: checkMs,
    anchorName: "dhcpd -t on it",
    ratio: oursMs / checkMs,
    bar: { kind: "at-most", value: 0.25 },
  };
}

async function serve(): Promise<Measurement> {
  const { enrollMs, restartMs } = await measureServe(SERVED_HOSTS);
  return {
    metric: `enroll to dhcpd offering the address, ${SERVED_HOSTS} hosts, p50`,
    unit: "ms",
    ours: enrollMs,
    anchor: restartMs,
    anchorName: "bare dhcpd restart",
    ratio: enrollMs / restartMs,
    bar: { kind: "at-most", value: 2 },
  };
}
