import { InvalidArgumentError } from "commander";

export interface RangeText {
  readonly first: string;
  readonly last: string;
}

/** Reads `FIRST-LAST`; the coordinator judges the addresses. */
export function parseRange(text: string): RangeText {
  const [first, last, ...rest] = text.split("-").map((part) => part.trim());
  if (first === undefined || first === "" || last === undefined || last === "" || rest.length > 0)
    throw new InvalidArgumentError("Write it as FIRST-LAST: 192.168.50.100-192.168.50.150.");
  return { first, last };
}

/** Collects a repeated option. */
export function collectRange(text: string, earlier: readonly RangeText[] | undefined): readonly RangeText[] {
  return [...(earlier ?? []), parseRange(text)];
}

export function collectText(text: string, earlier: readonly string[] | undefined): readonly string[] {
  return [...(earlier ?? []), text];
}
