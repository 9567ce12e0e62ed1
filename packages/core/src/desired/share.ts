/**
 * The value of `after`, made of the very objects of `before` wherever the two are equal. What is made anew at every pass and hardly changes is then told
 * apart by identity, and what was derived of the parts stays valid. Both are plain data that nobody changes.
 */
export function shareParts<T>(before: unknown, after: T): T {
  return share(before, after) as T;
}

function share(before: unknown, after: unknown): unknown {
  if (before === after || !isObject(before) || !isObject(after)) return after;
  if (Array.isArray(after)) return Array.isArray(before) ? shareList(before, after) : after;
  return Array.isArray(before) ? after : shareMembers(before, after);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return value !== null && typeof value === "object";
}

function shareMembers(before: Record<string, unknown>, after: Record<string, unknown>): Record<string, unknown> {
  let isSame = true;
  let copy: Record<string, unknown> | null = null;
  for (const key in after) {
    const member = after[key];
    const shared = share(before[key], member);
    if (shared !== before[key] || !(key in before)) isSame = false;
    if (shared !== member) (copy ??= { ...after })[key] = shared;
  }
  if (!isSame) return copy ?? after;
  for (const key in before) if (!(key in after)) return copy ?? after;
  return before;
}

/** What stands at the same place from either end; between the two what is equal wherever it stands, or member by member. */
function shareList(before: readonly unknown[], after: readonly unknown[]): readonly unknown[] {
  const shared = [...after];
  const most = Math.min(before.length, after.length);
  let head = 0;
  while (head < most && takes(before[head], shared, head)) head++;
  if (head === before.length && head === after.length) return before;
  let tail = 0;
  while (tail < most - head && takes(before[before.length - 1 - tail], shared, after.length - 1 - tail)) tail++;
  const [left, right] = [before.length - head - tail, after.length - head - tail];
  if (left === 0 || right === 0) return shared;
  if (left === right) for (let n = head; n < head + left; n++) shared[n] = share(before[n], after[n]);
  else shareAnywhere(before.slice(head, head + left), shared, head);
  return shared;
}

/** Puts the one from before in the place, if it is the same. */
function takes(before: unknown, shared: unknown[], at: number): boolean {
  if (share(before, shared[at]) !== before) return false;
  shared[at] = before;
  return true;
}

function shareAnywhere(before: readonly unknown[], shared: unknown[], from: number): void {
  const known = new Map(before.map((item) => [JSON.stringify(item), item]));
  for (let n = from; n < shared.length; n++) {
    const item = known.get(JSON.stringify(shared[n]));
    if (item !== undefined) shared[n] = item;
  }
}
