/** The value of a JSON text, or null where it is none: for text of others' (or our own, torn) whose shape a schema judges next. */
export function parseJsonOrNull(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null; // what is no JSON fits no schema either
  }
}
