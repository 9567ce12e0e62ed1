import { expect, test } from "vitest";
import type { SourcedNotice } from "./notice-source.js";
import { NoticeSpool } from "./notice-spool.js";
import { readWebhooks } from "./read-webhooks.js";
import { createMemoryFiles } from "@berth/host/fakes";

const sourced = (auditNumber: number): SourcedNotice => ({
  auditNumber,
  notice: { id: `audit-${auditNumber}`, type: "x", at: "", actor: null, subject: "", detail: null },
});

test("a full spool drops the oldest, says how many, and does not take what was dropped for delivered", () => {
  const spool = new NoticeSpool(3);
  spool.add([sourced(0), sourced(1), sourced(2)]);
  const batch = spool.head(2);
  spool.add([sourced(3), sourced(4)]);
  expect([spool.size, spool.dropped, spool.firstAuditNumber()]).toEqual([3, 2, 2]);
  spool.taken(batch, 0);
  expect(spool.head(9).map(({ auditNumber }) => auditNumber)).toEqual([2, 3, 4]);
  spool.taken(spool.head(9), 2);
  expect([spool.size, spool.dropped, spool.firstAuditNumber()]).toEqual([0, 0, null]);
});

test("a webhook needs a secret of some length", async () => {
  const files = createMemoryFiles();
  await files.replace("/short", "short\n", 0o600);
  await files.replace("/good", "0123456789abcdef\n", 0o600);
  const read = (secretFile: string) => readWebhooks({ log: false, webhooks: [{ url: "https://x.example", secretFile }] }, files);
  for (const secretFile of ["/absent", "/short"])
    await expect(read(secretFile)).rejects.toMatchObject({ code: "webhook-secret-unusable", at: secretFile });
  expect(await read("/good")).toEqual([{ url: "https://x.example", secret: "0123456789abcdef" }]);
});
