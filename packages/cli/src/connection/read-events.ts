/** One server-sent event. */
export interface ServerEvent {
  /** What a reader names that comes back; empty when the event has none. */
  readonly id: string;
  readonly event: string;
  readonly data: unknown;
}

const EVENT_CHARACTERS_MAX = 16 * 1024 * 1024;

/** The events of a stream, in whatever pieces it comes; comments and the like are left out. Throws for what is no such stream. */
export async function* readEvents(chunks: AsyncIterable<string>): AsyncGenerator<ServerEvent, void, undefined> {
  let text = "";
  for await (const chunk of chunks) {
    text += chunk;
    const blocks = text.split("\n\n");
    text = blocks.pop() ?? "";
    if (text.length > EVENT_CHARACTERS_MAX) throw new Error("an event is too large");
    for (const block of blocks) {
      const event = readBlock(block);
      if (event !== null) yield event;
    }
  }
}

function readBlock(block: string): ServerEvent | null {
  const fields = new Map<string, string>();
  for (const line of block.split("\n")) {
    const colon = line.indexOf(": ");
    if (colon > 0) fields.set(line.slice(0, colon), line.slice(colon + 2));
  }
  const data = fields.get("data");
  return data === undefined
    ? null
    : { id: fields.get("id") ?? "", event: fields.get("event") ?? "message", data: JSON.parse(data) as unknown };
}
