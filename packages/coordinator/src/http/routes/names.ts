import {
  addressFamily,
  API_ROOT,
  isoTime,
  nameQuerySchema,
  nameViewSchema,
  pageOf,
  pageSchema,
  recordCreateSchema,
  type Allocation,
  type NameRecord,
  type NameView,
} from "@berth/core";
import { recordTag } from "../../ledger/entity-tag.js";
import { acceptedValue } from "../answer-errors.js";
import { askerFrom, createdStatus, markChange } from "../asker-from.js";
import type { ApiPorts } from "../ports.js";
import { changeParts, errorAnswers, referenceParameters, type ApiServer } from "./api-server.js";

const tags = ["names"];

export function nameRoutes(api: ApiServer, { ledger }: ApiPorts): void {
  const page = { 200: pageSchema(nameViewSchema), ...errorAnswers };
  api.get(
    `${API_ROOT}/names`,
    {
      schema: {
        tags,
        summary: "List names: operators' records and those of allocations",
        querystring: nameQuerySchema,
        response: page,
      },
    },
    (request) => {
      const { source, type, name } = request.query;
      const text = name?.toLowerCase();
      const records = source === "allocation" ? [] : ledger.records().map(viewRecord);
      const held = source === "record" ? [] : ledger.allocations().map(viewHeldName);
      const found = [...records, ...held].filter(
        (view) => (type === undefined || view.type === type) && (text === undefined || view.name.includes(text)),
      );
      return pageOf(found, (view) => `${view.name} ${view.type} ${view.value} ${view.id ?? ""}`, request.query);
    },
  );
  const made = { 200: nameViewSchema, 201: nameViewSchema, ...errorAnswers };
  api.post(
    `${API_ROOT}/names`,
    { schema: { tags, summary: "Put a record into a zone", body: recordCreateSchema, ...changeParts, response: made } },
    async (request, reply) => {
      const { record, created } = acceptedValue(await ledger.addRecord(request.body, askerFrom(request)));
      markChange(request, reply, recordTag(record));
      return reply.code(createdStatus(request, created)).send(viewRecord(record));
    },
  );
  const response = { 200: nameViewSchema, ...errorAnswers };
  const summary = "Take a record away, by id, or by name where it has one only";
  api.delete(
    `${API_ROOT}/names/:ref`,
    { schema: { tags, summary, params: referenceParameters, ...changeParts, response } },
    async (request, reply) => {
      const record = acceptedValue(await ledger.removeRecord(request.params.ref, askerFrom(request)));
      markChange(request, reply, null);
      return viewRecord(record);
    },
  );
}

function viewRecord({ id, name, type, value, createdAt }: NameRecord): NameView {
  return { id, name, type, value, source: "record", holder: null, createdAt: isoTime(createdAt) };
}

function viewHeldName({ id, name, address, createdAt }: Allocation): NameView {
  const type = addressFamily(address) === 4 ? "A" : "AAAA";
  return { id: null, name, type, value: address, source: "allocation", holder: id, createdAt: isoTime(createdAt) };
}
