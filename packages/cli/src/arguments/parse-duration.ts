import { InvalidArgumentError } from "commander";

const UNIT_SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };

/** Reads `90`, `90s`, `15m`, `1h` or `2d` as seconds. */
export function parseDuration(text: string): number {
  const [, digits, unit = "s"] = /^(\d{1,9})([smhd])?$/.exec(text) ?? [];
  if (digits === undefined) throw new InvalidArgumentError("Write it as 90s, 15m, 1h or 2d.");
  return Number(digits) * (UNIT_SECONDS[unit] ?? 1);
}

/** Reads a whole number without sign. */
export function parseCount(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError("Write a whole number.");
  return Number(text);
}
