import {
  addressSortKey,
  API_ROOT,
  isoTime,
  pageOf,
  pageSchema,
  reservationCreateSchema,
  reservationQuerySchema,
  reservationViewSchema,
  type Reservation,
  type ReservationView,
} from "@berth/core";
import { recordTag } from "../../ledger/entity-tag.js";
import type { Ledger } from "../../ledger/ledger.js";
import { acceptedValue } from "../answer-errors.js";
import { askerFrom, createdStatus, markChange } from "../asker-from.js";
import type { ApiPorts } from "../ports.js";
import { changeParts, errorAnswers, referenceParameters, type ApiServer } from "./api-server.js";
import { findSubnet } from "./subnets.js";

const tags = ["reservations"];

export function reservationRoutes(api: ApiServer, { ledger }: ApiPorts): void {
  const page = { 200: pageSchema(reservationViewSchema), ...errorAnswers };
  api.get(
    `${API_ROOT}/reservations`,
    { schema: { tags, summary: "List reservations and exclusions", querystring: reservationQuerySchema, response: page } },
    (request) => {
      const { subnet } = request.query;
      const subnetId = subnet === undefined ? null : findSubnet(ledger, subnet).id;
      const found = ledger.reservations().filter((reservation) => subnetId === null || reservation.subnetId === subnetId);
      const { items, next } = pageOf(found, ({ first, id }) => `${addressSortKey(first)} ${id}`, request.query);
      return { items: items.map(reservationViewer(ledger)), next };
    },
  );
  const made = { 200: reservationViewSchema, 201: reservationViewSchema, ...errorAnswers };
  api.post(
    `${API_ROOT}/reservations`,
    {
      schema: { tags, summary: "Keep addresses from being given", body: reservationCreateSchema, ...changeParts, response: made },
    },
    async (request, reply) => {
      const { reservation, created } = acceptedValue(await ledger.reserve(request.body, askerFrom(request)));
      markChange(request, reply, recordTag(reservation));
      return reply.code(createdStatus(request, created)).send(reservationViewer(ledger)(reservation));
    },
  );
  const response = { 200: reservationViewSchema, ...errorAnswers };
  const summary = "Give them back, by id or first address";
  api.delete(
    `${API_ROOT}/reservations/:ref`,
    { schema: { tags, summary, params: referenceParameters, ...changeParts, response } },
    async (request, reply) => {
      const view = reservationViewer(ledger);
      const reservation = acceptedValue(await ledger.unreserve(request.params.ref, askerFrom(request)));
      markChange(request, reply, null);
      return view(reservation);
    },
  );
}

function reservationViewer(ledger: Ledger): (reservation: Reservation) => ReservationView {
  const prefixes = new Map(ledger.subnets().map(({ id, prefix }) => [id, prefix]));
  return ({ id, kind, subnetId, first, last, note, createdAt }) => ({
    id,
    kind,
    subnet: prefixes.get(subnetId) ?? "",
    subnetId,
    first,
    last,
    note,
    createdAt: isoTime(createdAt),
  });
}
