import { createMemoryFiles, type MemoryFiles } from "@berth/host/fakes";
import { expect, it } from "vitest";
import { createMemoryStore } from "../store/memory-store.js";
import { shareAuthority } from "./share-authority.js";

const keyIn = async (files: MemoryFiles, folder: string): Promise<string> =>
  Buffer.from((await files.read(`${folder}/ca.key`, 65_536)) ?? []).toString("utf8");

it("gives coordinators that start together one authority, keeps it, and refuses a folder of another region", async () => {
  const files = createMemoryFiles();
  const { settings } = createMemoryStore();
  await Promise.all([shareAuthority(settings, "/a", files), shareAuthority(settings, "/b", files)]);
  const key = await keyIn(files, "/a");
  expect(key).toMatch(/^-----BEGIN PRIVATE KEY-----/);
  expect(await keyIn(files, "/b")).toBe(key);
  await shareAuthority(settings, "/a", files);
  expect(await keyIn(files, "/a")).toBe(key);
  const other = createMemoryStore();
  await shareAuthority(other.settings, "/c", files);
  await expect(shareAuthority(settings, "/c", files)).rejects.toMatchObject({ code: "authority-differs", at: "/c/ca.key" });
  const moved = createMemoryStore();
  await shareAuthority(moved.settings, "/a", files);
  expect(await moved.settings.get("authority-key")).toBe(key);
});
