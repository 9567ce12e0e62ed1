/** One lease as the last block of its address tells it. */
export interface NaiveLease {
  readonly state: string;
  readonly mac: string | null;
  /** Seconds since 1970; null for never or none. */
  readonly ends: number | null;
}

/**
 * Reads a leases file that dhcpd has written whole, in the most direct way: by lines, the last block of an address wins. It is not fit for
 * damaged files or hostile names, which is why it can check the product's reader: it shares nothing with it.
 */
export function readNaively(text: string): Map<string, NaiveLease> {
  const leases = new Map<string, NaiveLease>();
  let address: string | null = null;
  let lines: string[] = [];
  for (const line of text.split("\n")) {
    const opening = /^lease (\S+) \{$/.exec(line);
    if (opening !== null) {
      address = opening[1] ?? null;
      lines = [];
    } else if (line === "}" && address !== null) {
      leases.set(address, readBlock(lines));
      address = null;
    } else {
      lines.push(line);
    }
  }
  return leases;
}

function readBlock(lines: readonly string[]): NaiveLease {
  const find = (pattern: RegExp): RegExpExecArray | null => {
    for (const line of lines) {
      const match = pattern.exec(line);
      if (match !== null) return match;
    }
    return null;
  };
  const ends = find(/^ {2}ends \d (\d+)\/(\d+)\/(\d+) (\S+);$/);
  return {
    state: find(/^ {2}binding state (\w+);$/)?.[1] ?? "none",
    mac: find(/^ {2}hardware ethernet (\S+);$/)?.[1] ?? null,
    ends: ends === null ? null : Date.parse(`${ends[1]}-${ends[2]}-${ends[3]}T${ends[4]}Z`) / 1000,
  };
}
