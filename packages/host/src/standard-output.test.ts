import { EventEmitter } from "node:events";
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createStandardOutput } from "./standard-output.js";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "berth-output-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

class Stream extends EventEmitter {
  readonly fd: number;
  readonly written: string[] = [];
  constructor(fd: number) {
    super();
    this.fd = fd;
  }
  write(text: string): boolean {
    this.written.push(text);
    return true;
  }
}

test("a file gets all of it, at the end of what it has", () => {
  const file = join(folder, "out");
  const fd = openSync(file, "a");
  const ends: unknown[] = [];
  const write = createStandardOutput(new Stream(fd), (...end) => ends.push(end));
  const text = "ä".repeat(1_000_000);
  write(text);
  write("end");
  closeSync(fd);
  expect(readFileSync(file, "utf8") === `${text}end`).toBe(true);
  write("after it was closed");
  expect(ends).toEqual([[3, expect.stringContaining("EBADF")]]);
});

test("what is no file is written by the stream, whose failures end the program; a reader that went away is none", () => {
  const fd = openSync("/dev/null", "w");
  const stream = new Stream(fd);
  const ends: unknown[] = [];
  createStandardOutput(stream, (...end) => ends.push(end))("text");
  closeSync(fd);
  expect(stream.written).toEqual(["text"]);
  stream.emit("error", Object.assign(new Error("gone"), { code: "EPIPE" }));
  stream.emit("error", Object.assign(new Error("full"), { code: "ENOSPC" }));
  expect(ends).toEqual([
    [0, ""],
    [3, expect.stringContaining("output-unwritable")],
  ]);
});
