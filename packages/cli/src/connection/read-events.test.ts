import { expect, it } from "vitest";
import { readEvents } from "./read-events.js";

async function* pieces(text: string, length: number): AsyncGenerator<string> {
  for (let at = 0; at < text.length; at += length) yield await Promise.resolve(text.slice(at, at + length));
}

it.each([1, 3, 1000])("reads events that come %i characters at a time", async (length) => {
  const text =
    'retry: 2000\nevent: ready\nid: 1.0\ndata: {}\n\n: nothing new\n\nevent: change\nid: 2.0\ndata: {"a":": "}\n\nevent: cut\n';
  const events: unknown[] = [];
  for await (const event of readEvents(pieces(text, length))) events.push(event);
  expect(events).toEqual([
    { id: "1.0", event: "ready", data: {} },
    { id: "2.0", event: "change", data: { a: ": " } },
  ]);
});
