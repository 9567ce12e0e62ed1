import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { EnvironmentError, errnoOf, systemFiles, type Files } from "@berth/host";
import { createMemoryFiles, type ReplaceFault } from "@berth/host/fakes";
import { afterAll, afterEach, beforeEach, describe, expect, it } from "vitest";

interface Subject {
  readonly files: Files;
  /** A directory that is there and empty. */
  readonly root: string;
  put(path: string, content: string): void;
  mode(path: string): number | null;
  /** Names of all files in the directory, temporary ones too. */
  list(directory: string): readonly string[];
  end(): void;
}

const subjects: readonly [string, () => Subject][] = [
  ["systemFiles", onDisk],
  ["memory files", inMemory],
];

function onDisk(): Subject {
  const root = mkdtempSync(join(tmpdir(), "berth-files-"));
  return {
    files: systemFiles,
    root,
    put: (path, content) => writeFileSync(path, content),
    mode: (path) => statSync(path).mode & 0o777,
    list: (directory) => readdirSync(directory).sort(),
    end: () => rmSync(root, { recursive: true }),
  };
}

function inMemory(): Subject {
  const files = createMemoryFiles();
  const root = "/state";
  files.put(`${root}/first`, "");
  return {
    files: { ...bound(files) },
    root,
    put: (path, content) => files.put(path, content),
    mode: (path) => files.mode(path),
    list: (directory) => files.paths.filter((p) => p !== `${root}/first`).map((p) => p.slice(directory.length + 1)),
    end: () => undefined,
  };
}

/** Only what the port promises: a test of the contract must not lean on the fake's own methods. */
function bound(files: Files): Files {
  return {
    read: (...args) => files.read(...args),
    replace: (...args) => files.replace(...args),
    write: (...args) => files.write(...args),
    move: (...args) => files.move(...args),
    ensureDirectory: (...args) => files.ensureDirectory(...args),
    remove: (...args) => files.remove(...args),
  };
}

const text = (bytes: Uint8Array | null): string | null => (bytes === null ? null : new TextDecoder().decode(bytes));

/** The typed error a call must end with; its cause names the system's error. */
async function failure(call: Promise<unknown>): Promise<{ code: string; at: string; cause: string | null }> {
  const error: unknown = await call.then(
    () => new Error("it did not fail"),
    (e: unknown) => e,
  );
  if (!(error instanceof EnvironmentError)) throw error;
  return { code: error.code, at: error.at, cause: errnoOf(error.cause) };
}

describe.each(subjects)("the contract of Files: %s", (_name, make) => {
  let subject: Subject;
  let files: Files;
  const at = (name: string): string => join(subject.root, name);
  beforeEach(() => {
    subject = make();
    files = subject.files;
  });
  afterEach(() => subject.end());

  it("reads back what it replaced, octet for octet", async () => {
    const octets = Uint8Array.from({ length: 256 }, (_, n) => n);
    await files.replace(at("a"), octets);
    expect(await files.read(at("a"))).toEqual(expect.objectContaining({ length: 256 }));
    expect([...((await files.read(at("a"))) ?? [])]).toEqual([...octets]);
    await files.replace(at("a"), "größer");
    expect(text(await files.read(at("a")))).toBe("größer");
    await files.replace(at("a"), "");
    expect(text(await files.read(at("a")))).toBe("");
  });

  it("leaves nothing but the file", async () => {
    await files.replace(at("a"), "one");
    await files.replace(at("a"), "two");
    expect(subject.list(subject.root)).toEqual(["a"]);
  });

  it("gives the mode that is asked for, whatever the umask or the old file's", async () => {
    await files.replace(at("a"), "secret", 0o600);
    expect(subject.mode(at("a"))).toBe(0o600);
    await files.replace(at("a"), "public", 0o666);
    expect(subject.mode(at("a"))).toBe(0o666);
    await files.replace(at("a"), "usual");
    expect(subject.mode(at("a"))).toBe(0o644);
  });

  it("keeps its own copy of what it was given and of what it gives", async () => {
    const given = new TextEncoder().encode("kept");
    const writing = files.replace(at("a"), given);
    await writing;
    given.fill(0);
    (await files.read(at("a")))?.fill(0);
    expect(text(await files.read(at("a")))).toBe("kept");
  });

  it("answers null for a file that is not there, also below a directory that is not there", async () => {
    expect(await files.read(at("none"))).toBeNull();
    expect(await files.read(at("none/below"))).toBeNull();
  });

  it("refuses a file above the limit and takes one at it", async () => {
    subject.put(at("a"), "12345");
    expect(text(await files.read(at("a"), 5))).toBe("12345");
    expect(await failure(files.read(at("a"), 4))).toMatchObject({ code: "file-too-large", at: at("a") });
  });

  it("fails to read a directory, or below a file", async () => {
    expect(await failure(files.read(subject.root))).toEqual({ code: "file-unreadable", at: subject.root, cause: "EISDIR" });
    subject.put(at("a"), "");
    expect(await failure(files.read(at("a/b")))).toEqual({ code: "file-unreadable", at: at("a/b"), cause: "ENOTDIR" });
  });

  it("writes a file anew, over what was there, and leaves nothing but it", async () => {
    await files.write(at("a"), "a longer one", 0o600);
    expect(subject.mode(at("a"))).toBe(0o600);
    await files.write(at("a"), "two");
    expect([text(await files.read(at("a"))), subject.mode(at("a")), subject.list(subject.root)]).toEqual(["two", 0o644, ["a"]]);
    await files.ensureDirectory(at("d"));
    for (const name of ["none/b", "a/b", "d"])
      expect(await failure(files.write(at(name), "new"))).toMatchObject({ code: "file-unwritable", at: at(name) });
    expect(text(await files.read(at("a")))).toBe("two");
  });

  it("fails to write where no directory is, below a file, and over a directory; nothing is left behind", async () => {
    subject.put(at("a"), "old");
    await files.ensureDirectory(at("d"));
    const cases = { "none/b": "ENOENT", "a/b": "ENOTDIR", d: "EISDIR" };
    for (const [name, cause] of Object.entries(cases)) {
      expect(await failure(files.replace(at(name), "new"))).toEqual({ code: "file-unwritable", at: at(name), cause });
    }
    expect(text(await files.read(at("a")))).toBe("old");
    expect(subject.list(subject.root).filter((name) => name !== "d")).toEqual(["a"]);
  });

  it("makes directories with their parents, as often as it is asked", async () => {
    await files.ensureDirectory(at("x/y/z"));
    await files.ensureDirectory(at("x/y/z"));
    await files.replace(at("x/y/z/a"), "deep");
    expect(text(await files.read(at("x/y/z/a")))).toBe("deep");
    subject.put(at("f"), "");
    expect(await failure(files.ensureDirectory(at("f")))).toEqual({
      code: "directory-uncreatable",
      at: at("f"),
      cause: "EEXIST",
    });
    expect(await failure(files.ensureDirectory(at("f/g")))).toMatchObject({ code: "directory-uncreatable", cause: "ENOTDIR" });
  });

  it("removes a file, finds it fine when there is none, and removes no directory", async () => {
    await files.replace(at("a"), "");
    await files.remove(at("a"));
    await files.remove(at("a"));
    expect(await files.read(at("a"))).toBeNull();
    await files.ensureDirectory(at("d"));
    expect(await failure(files.remove(at("d")))).toMatchObject({ code: "file-unremovable", at: at("d") });
  });

  it("moves a file over another one, with its mode, and says when there is none to move", async () => {
    await files.replace(at("a"), "new", 0o600);
    await files.replace(at("b"), "old");
    await files.move(at("a"), at("b"));
    expect([text(await files.read(at("b"))), subject.mode(at("b")), subject.list(subject.root)]).toEqual(["new", 0o600, ["b"]]);
    expect(await failure(files.move(at("a"), at("b")))).toEqual({ code: "file-unwritable", at: at("b"), cause: "ENOENT" });
    expect(text(await files.read(at("b")))).toBe("new");
    await files.ensureDirectory(at("d"));
    expect(await failure(files.move(at("b"), at("d")))).toMatchObject({ code: "file-unwritable", cause: "EISDIR" });
    expect(text(await files.read(at("b")))).toBe("new");
  });

  it("shows a reader the old content or the new, never a part, while it is replaced again and again", async () => {
    const contents = ["a".repeat(100_000), "b".repeat(150_000)];
    await files.replace(at("a"), contents[0] ?? "");
    const writer = (async () => {
      for (let n = 1; n <= 20; n++) await files.replace(at("a"), contents[n % 2] ?? "");
    })();
    for (let n = 0; n < 40; n++) expect(contents).toContain(text(await files.read(at("a"))));
    await writer;
  });

  it("lets many replace one file at once: one of them wins whole", async () => {
    const contents = Array.from({ length: 8 }, (_, n) => String(n).repeat(10_000));
    await Promise.all(contents.map((content) => files.replace(at("a"), content)));
    expect(contents).toContain(text(await files.read(at("a"))));
    expect(subject.list(subject.root)).toEqual(["a"]);
  });
});

describe("systemFiles and what is no plain file", () => {
  const root = mkdtempSync(join(tmpdir(), "berth-files-"));
  afterAll(() => rmSync(root, { recursive: true }));

  it("neither waits for a named pipe nor reads a device without end", async () => {
    const pipe = join(root, "pipe");
    execFileSync("mkfifo", [pipe]);
    symlinkSync("/dev/zero", join(root, "zero"));
    for (const path of [pipe, join(root, "zero")])
      expect(await failure(systemFiles.read(path))).toEqual({ code: "file-unreadable", at: path, cause: null });
    await systemFiles.replace(pipe, "a file again");
    expect(text(await systemFiles.read(pipe))).toBe("a file again");
  });

  it("reads a pipe that a shell hands over, up to the limit", () => {
    const read = (limit: number): string =>
      `import { systemFiles } from "@berth/host";
       console.log(await systemFiles.read("/dev/stdin", ${limit}).then((octets) => octets.length, (error) => error.code));`;
    const run = (limit: number): string =>
      execFileSync("sh", ["-c", 'head -c 200000 /dev/zero | node --input-type=module -e "$0"', read(limit)], {
        encoding: "utf8",
      });
    expect([run(200_000), run(199_999)]).toEqual(["200000\n", "file-too-large\n"]);
  });
});

describe("Files on a disk with faults", () => {
  const causes: readonly [ReplaceFault, string][] = [
    ["disk-full", "ENOSPC"],
    ["short-write", "EIO"],
    ["rename-fails", "EIO"],
  ];

  it.each(causes)("keeps the old content when %s, and writes again afterwards", async (fault, cause) => {
    const files = createMemoryFiles();
    files.put("/d/a", "old", 0o600);
    files.failNext(fault);
    expect(await failure(files.replace("/d/a", "new"))).toEqual({ code: "file-unwritable", at: "/d/a", cause });
    expect([files.text("/d/a"), files.mode("/d/a"), files.paths]).toEqual(["old", 0o600, ["/d/a"]]);
    await files.replace("/d/a", "new");
    expect(files.text("/d/a")).toBe("new");
  });

  it("has the new content when only the directory could not be synced", async () => {
    const files = createMemoryFiles();
    files.put("/d/a", "old");
    files.failNext("directory-sync-fails");
    expect(await failure(files.replace("/d/a", "new"))).toMatchObject({ code: "file-unwritable", cause: "EIO" });
    expect(files.text("/d/a")).toBe("new");
  });

  it("fails on the path that was named only, and as long as it is told to", async () => {
    const files = createMemoryFiles();
    files.put("/d/a", "old");
    files.failNext("disk-full", "/d/b");
    await files.replace("/d/a", "new");
    expect(await failure(files.replace("/d/b", "x"))).toMatchObject({ at: "/d/b", cause: "ENOSPC" });
    await files.replace("/d/b", "x");
    files.failAlways("disk-full");
    for (let n = 0; n < 3; n++) expect((await failure(files.replace("/d/b", "y"))).cause).toBe("ENOSPC");
    files.failAlways(null);
    await files.replace("/d/b", "y");
    expect(files.text("/d/b")).toBe("y");
  });

  it("fails the other calls as well", async () => {
    const files = createMemoryFiles();
    files.put("/d/a", "old");
    files.failNext("read-fails");
    files.failNext("mkdir-fails");
    files.failNext("remove-fails");
    expect(await failure(files.read("/d/a"))).toMatchObject({ code: "file-unreadable", cause: "EIO" });
    expect(await failure(files.ensureDirectory("/e"))).toMatchObject({ code: "directory-uncreatable", cause: "EACCES" });
    expect(await failure(files.remove("/d/a"))).toMatchObject({ code: "file-unremovable", cause: "EACCES" });
    expect(text(await files.read("/d/a"))).toBe("old");
  });

  it("keeps the old file when the name cannot change hands on a real disk", async () => {
    const subject = onDisk();
    try {
      const target = join(subject.root, "busy");
      mkdirSync(target);
      writeFileSync(join(target, "content"), "old");
      expect(await failure(systemFiles.replace(target, "new"))).toMatchObject({ code: "file-unwritable", at: target });
      expect(subject.list(subject.root)).toEqual(["busy"]);
      expect(text(await systemFiles.read(join(target, "content")))).toBe("old");
    } finally {
      subject.end();
    }
  });
});
