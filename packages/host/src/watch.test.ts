import { mkdtemp, rm, writeFile, appendFile, rename, truncate, unlink, mkdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createFakeFollowFiles } from "./fakes/follow-files.js";
import { filesystemOf, localFollowFiles, networkFollowFiles } from "./watch-files.js";
import type { FollowedFile, FollowFiles } from "./watch.js";

interface Stage {
  readonly files: FollowFiles;
  readonly directory: string;
  write(name: string, text: string): Promise<void>;
  append(name: string, text: string): Promise<void>;
  rename(from: string, to: string): Promise<void>;
  truncate(name: string): Promise<void>;
  unlink(name: string): Promise<void>;
  close(): Promise<void>;
}

async function realStage(files: FollowFiles): Promise<Stage> {
  const directory = await mkdtemp(join(tmpdir(), "berth-watch-"));
  const at = (name: string): string => join(directory, name);
  return {
    files,
    directory,
    write: (name, text) => writeFile(at(name), text),
    append: (name, text) => appendFile(at(name), text),
    rename: (from, to) => rename(at(from), at(to)),
    truncate: (name) => truncate(at(name)),
    unlink: (name) => unlink(at(name)),
    close: () => rm(directory, { recursive: true }),
  };
}

function fakeStage(): Stage {
  const files = createFakeFollowFiles();
  const at = (name: string): string => `/fake/${name}`;
  const done = Promise.resolve();
  return {
    files,
    directory: "/fake",
    write: (name, text) => (files.write(at(name), text), done),
    append: (name, text) => (files.append(at(name), text), done),
    rename: (from, to) => (files.rename(at(from), at(to)), done),
    truncate: (name) => (files.truncate(at(name)), done),
    unlink: (name) => (files.unlink(at(name)), done),
    close: () => done,
  };
}

const stages: readonly [string, () => Promise<Stage>][] = [
  ["local files", () => realStage(localFollowFiles)],
  ["files as on a network filesystem", () => realStage(networkFollowFiles)],
  ["fake", () => Promise.resolve(fakeStage())],
];

describe.each(stages)("FollowFiles contract: %s", (_name, createStage) => {
  let stage: Stage;
  let path: string;

  beforeEach(async () => {
    stage = await createStage();
    path = join(stage.directory, "file");
  });
  afterEach(() => stage.close());

  const opened = async (): Promise<FollowedFile> => {
    const file = await stage.files.open(path);
    if (file === null) throw new Error("the file is not there");
    return file;
  };

  const textAt = async (file: FollowedFile, position: number): Promise<string> => {
    const buffer = new Uint8Array(100);
    return Buffer.from(buffer.subarray(0, await file.read(buffer, position))).toString();
  };

  it("answers null for a file that is not there", async () => {
    expect(await stage.files.stamp(path)).toBeNull();
    expect(await stage.files.open(path)).toBeNull();
  });

  it("reads by position, and nothing at the end", async () => {
    await stage.write("file", "hello");
    const file = await opened();
    expect(await textAt(file, 1)).toBe("ello");
    expect(await textAt(file, 5)).toBe("");
    await stage.append("file", " there");
    expect(await textAt(file, 5)).toBe(" there");
    await file.close();
  });

  it("keeps the identity over appends and truncation and tells a replacement", async () => {
    await stage.write("file", "one");
    const file = await opened();
    const { identity } = await file.stamp();
    await stage.append("file", "two");
    expect(await stage.files.stamp(path)).toMatchObject({ identity, size: 6 });
    await stage.truncate("file");
    expect(await stage.files.stamp(path)).toMatchObject({ identity, size: 0 });
    await stage.write("new", "x");
    await stage.rename("new", "file");
    expect((await stage.files.stamp(path))?.identity).not.toBe(identity);
    expect((await file.stamp()).identity).toBe(identity);
    await file.close();
  });

  it("reads a file that has lost its name", async () => {
    await stage.write("file", "still here");
    const file = await opened();
    await stage.unlink("file");
    expect(await textAt(file, 0)).toBe("still here");
    await file.close();
  });

  it("knows its disk", async () => {
    expect(await stage.files.filesystem(stage.directory)).toEqual({ kind: "local" });
    expect(await stage.files.freeBytes(stage.directory)).toBeGreaterThan(0);
    expect(await stage.files.directoryIdentity(stage.directory)).toEqual(expect.any(String));
  });

  it("names the entries that change, until it is closed", async () => {
    const names = new Set<string | null>();
    let woken = (): void => undefined;
    const watch = stage.files.watch(stage.directory, {
      onEntry: (name) => {
        names.add(name);
        woken();
      },
      onFailure: (error) => {
        throw error;
      },
    });
    const until = async (name: string): Promise<void> => {
      while (!names.has(name)) await new Promise<void>((resolve) => (woken = resolve));
    };
    await stage.append("file", "x");
    await until("file");
    await stage.rename("file", "other");
    await until("other");
    watch.close();
  });
});

describe("localFollowFiles", () => {
  it("refuses what is not a plain file", async () => {
    const directory = await mkdtemp(join(tmpdir(), "berth-watch-"));
    await mkdir(join(directory, "file"));
    expect(() => localFollowFiles.open(join(directory, "file"))).toThrow(expect.objectContaining({ code: "file-unreadable" }));
    await rm(directory, { recursive: true });
  });

  it("fails to watch a directory that is not there", () => {
    const listener = { onEntry: () => undefined, onFailure: () => undefined };
    expect(() => localFollowFiles.watch("/nonexistent/berth", listener)).toThrow(
      expect.objectContaining({ code: "directory-unwatchable" }),
    );
  });

  it("tells filesystems that raise no event for others' writes", () => {
    expect(filesystemOf(0xef53)).toEqual({ kind: "local" });
    expect(filesystemOf(0x6969)).toEqual({ kind: "network", name: "NFS" });
    expect(filesystemOf(0xff534d42 | 0)).toEqual({ kind: "network", name: "CIFS" });
  });
});
