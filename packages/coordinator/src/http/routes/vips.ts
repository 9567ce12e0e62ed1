import {
  addressSortKey,
  API_ROOT,
  ipAddress,
  isoTime,
  pageOf,
  pageQuerySchema,
  pageSchema,
  viewVips,
  vipMoveQuerySchema,
  vipMoveViewSchema,
  vipViewSchema,
} from "@berth/core";
import type { ApiPorts } from "../ports.js";
import { errorAnswers, type ApiServer } from "./api-server.js";

const tags = ["vips"];

export function vipRoutes(api: ApiServer, { ledger, topology, vipMoves }: ApiPorts): void {
  api.get(
    `${API_ROOT}/vips`,
    {
      schema: {
        tags,
        summary: "List virtual addresses: who holds each now and where it last moved",
        querystring: pageQuerySchema,
        response: { 200: pageSchema(vipViewSchema), ...errorAnswers },
      },
    },
    (request) => {
      const vips = viewVips({ topology: topology(), subnets: ledger.subnets(), allocations: ledger.allocations() });
      return pageOf(vips, ({ address, site }) => `${site} ${addressSortKey(ipAddress(address))}`, request.query);
    },
  );
  api.get(
    `${API_ROOT}/vip-moves`,
    {
      schema: {
        tags,
        summary: "List moves of virtual addresses between racks, newest first",
        querystring: vipMoveQuerySchema,
        response: { 200: pageSchema(vipMoveViewSchema), ...errorAnswers },
      },
    },
    async (request) => {
      const { address = null, after, limit } = request.query;
      const before = after === undefined ? null : Math.max(0, Number.parseInt(after, 10) || 0);
      const moves = await vipMoves({ address, after: before, limit: limit + 1 });
      const page = moves.slice(0, limit);
      const items = page.map(({ site, address: moved, from, to, at }) => ({ site, address: moved, from, to, at: isoTime(at) }));
      return { items, next: moves.length > limit ? String(page.at(-1)?.number ?? "") : null };
    },
  );
}
