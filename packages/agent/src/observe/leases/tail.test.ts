import { createFakeFollowFiles } from "@berth/host/fakes";
import { describe, expect, it } from "vitest";
import { openTail, type Tail } from "./tail.js";

const PATH = "/leases/dhcpd.leases";

describe("openTail", () => {
  it("answers null without a file", async () => {
    expect(await openTail(createFakeFollowFiles(), PATH)).toBeNull();
  });

  it("passes on only what was added", async () => {
    const { files, tail, read } = await opened("one");
    expect(await read()).toBe("one");
    expect(await read()).toBe("");
    files.append(PATH, "two");
    expect(await read()).toBe("two");
    expect(tail.position.offset).toBe(6);
  });

  it("reads large files in blocks, whole", async () => {
    const text = Array.from({ length: 300_000 }, (_, i) => `${i};`).join("");
    const { read } = await opened(text);
    expect(await read(text.length)).toBe(text);
  });

  it("reads a backlog that is larger than it was when it was looked at", async () => {
    const text = "x".repeat(200_000);
    const { read } = await opened(text);
    expect(await read(1)).toBe(text);
  });

  it("tells content that was overwritten in place, even by a longer one", async () => {
    const { files, read } = await opened("lease one");
    await read();
    files.write(PATH, "something else and longer");
    expect(await read()).toBe("overwritten");
  });

  it("tells the hole that a server leaves when its file was truncated under it", async () => {
    const { files, read } = await opened("lease one");
    await read();
    files.write(PATH, "\0".repeat(9) + "lease two");
    expect(await read()).toBe("overwritten");
  });

  it("closes the descriptor", async () => {
    const { files, tail } = await opened("");
    expect(files.openFiles).toBe(1);
    await tail.close();
    expect(files.openFiles).toBe(0);
  });
});

async function opened(text: string): Promise<{
  files: ReturnType<typeof createFakeFollowFiles>;
  tail: Tail;
  read: (size?: number) => Promise<string>;
}> {
  const files = createFakeFollowFiles();
  files.write(PATH, text);
  const tail = await openTail(files, PATH);
  if (tail === null) throw new Error("the file is not there");
  const read = async (size = 0): Promise<string> => {
    const parts: Uint8Array[] = [];
    const end = await tail.readOn({ size, modified: "" }, (bytes) => void parts.push(bytes.slice()));
    return end === "end" ? Buffer.concat(parts).toString() : end;
  };
  return { files, tail, read };
}
