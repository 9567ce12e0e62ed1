import type { Command } from "commander";
import { vipMoveViewSchema, vipViewSchema, type VipMoveView, type VipView } from "@berth/core";
import type { CliContext } from "../cli-context.js";
import { formatAge } from "../output/age.js";
import type { Column } from "../output/table.js";
import { vipOwnerCommands } from "./vip-owners.js";

export function vipCommands(program: Command, context: CliContext): void {
  const vip = program.command("vip").description("virtual addresses: those that move between racks by design");
  vipOwnerCommands(vip, context);
  vip
    .command("list")
    .description("list virtual addresses: which rack has each now, since when, and why it counts as virtual")
    .action(async () => {
      const client = await context.connect();
      const vips = await client.list("/vips", {}, vipViewSchema);
      context.showList(vips, { columns: columns(context.ports.now()), empty: "no virtual addresses" });
    });
  vip
    .command("history")
    .description("list moves between racks, newest first")
    .argument("[address]", "only of this address")
    .action(async (address: string | undefined) => {
      const client = await context.connect();
      const moves = await client.list("/vip-moves", { address }, vipMoveViewSchema);
      context.showList(moves, { columns: MOVE_COLUMNS, empty: "no moves" });
    });
}

function columns(nowMs: number): readonly Column<VipView>[] {
  return [
    { title: "ADDRESS", cell: ({ address }) => address },
    { title: "SITE", cell: ({ site }) => site },
    { title: "HOLDER", cell: ({ holders }) => holders.map(holderText).join(", ") || "nobody" },
    { title: "SINCE", cell: ({ holders }) => holders.map(({ since }) => formatAge(since, nowMs)).join(", ") },
    { title: "MOVES", cell: ({ moves }) => String(moves) },
    { title: "LAST-MOVE", cell: ({ lastMove }) => (lastMove === null ? "" : moveText(lastMove)), wide: true },
    { title: "SUBNET", cell: ({ subnet }) => subnet ?? "" },
    { title: "OWNER", cell: ({ owner }) => owner ?? "" },
    { title: "WHY", cell: ({ reasons }) => reasons.join("; "), wide: true },
  ];
}

function holderText({ anycast, interface: on, rack, silent }: VipView["holders"][number]): string {
  const marks = [silent ? "silent" : "", anycast ? "anycast" : ""].filter((mark) => mark !== "");
  return `${rack}/${on}${marks.length === 0 ? "" : ` (${marks.join(", ")})`}`;
}

function moveText({ at, from, to }: VipMoveView): string {
  return `${from} to ${to} at ${at}`;
}

const MOVE_COLUMNS: readonly Column<VipMoveView>[] = [
  { title: "AT", cell: ({ at }) => at },
  { title: "ADDRESS", cell: ({ address }) => address },
  { title: "SITE", cell: ({ site }) => site },
  { title: "FROM", cell: ({ from }) => from },
  { title: "TO", cell: ({ to }) => to },
];
