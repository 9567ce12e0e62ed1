const UNITS: readonly (readonly [seconds: number, unit: string])[] = [
  [86_400, "d"],
  [3600, "h"],
  [60, "m"],
  [1, "s"],
];

/** How long ago, in its two largest units at most: `35s`, `4m10s`, `3d2h`. Empty for none; a time ahead of this clock counts as now. */
export function formatAge(time: string | null, nowMs: number): string {
  if (time === null) return "";
  const seconds = Math.max(0, Math.floor((nowMs - Date.parse(time)) / 1000));
  if (Number.isNaN(seconds)) return time;
  const index = Math.max(
    0,
    UNITS.findIndex(([size]) => seconds >= size),
  );
  const [size, unit] = UNITS[seconds === 0 ? UNITS.length - 1 : index] ?? [1, "s"];
  const next = UNITS[seconds === 0 ? UNITS.length : index + 1];
  const rest = next === undefined ? 0 : Math.floor((seconds % size) / next[0]);
  return `${Math.floor(seconds / size)}${unit}${rest === 0 || next === undefined ? "" : `${rest}${next[1]}`}`;
}
