import {
  API_ROOT,
  isoTime,
  pageOf,
  pageQuerySchema,
  pageSchema,
  prefixAround,
  subnetChangeSchema,
  subnetCreateSchema,
  subnetViewSchema,
  type RackView,
  type Subnet,
  type SubnetView,
} from "@berth/core";
import { recordTag } from "../../ledger/entity-tag.js";
import type { Ledger } from "../../ledger/ledger.js";
import { acceptedValue } from "../answer-errors.js";
import { ApiRefusal } from "../api-refusal.js";
import { askerFrom, createdStatus, markChange } from "../asker-from.js";
import type { ApiPorts } from "../ports.js";
import { changeParts, errorAnswers, referenceParameters, type ApiServer } from "./api-server.js";

const tags = ["subnets"];
/** Enough to keep numbers in their order as text. */
const ID_DIGITS = 10;
const SUBNET = `${API_ROOT}/subnets/:ref`;

export function subnetRoutes(api: ApiServer, ports: ApiPorts): void {
  readRoutes(api, ports);
  changeRoutes(api, ports);
}

function readRoutes(api: ApiServer, { ledger, racks }: ApiPorts): void {
  api.get(
    `${API_ROOT}/subnets`,
    {
      schema: {
        tags,
        summary: "List",
        querystring: pageQuerySchema,
        response: { 200: pageSchema(subnetViewSchema), ...errorAnswers },
      },
    },
    (request) => {
      const page = pageOf(ledger.subnets(), ({ id }) => String(id).padStart(ID_DIGITS, "0"), request.query);
      return { items: page.items.map(subnetViewer(ledger, racks())), next: page.next };
    },
  );
  const summary = "Show, by number or prefix";
  api.get(
    SUBNET,
    { schema: { tags, summary, params: referenceParameters, response: { 200: subnetViewSchema, ...errorAnswers } } },
    async (request, reply) => {
      const subnet = findSubnet(ledger, request.params.ref);
      return reply.header("etag", recordTag(subnet)).send(subnetViewer(ledger, racks())(subnet));
    },
  );
}

function changeRoutes(api: ApiServer, { ledger, racks }: ApiPorts): void {
  const view = (subnet: Subnet): SubnetView => subnetViewer(ledger, racks())(subnet);
  const response = { 200: subnetViewSchema, ...errorAnswers };
  api.post(
    `${API_ROOT}/subnets`,
    {
      schema: {
        tags,
        summary: "Declare",
        body: subnetCreateSchema,
        ...changeParts,
        response: { 201: subnetViewSchema, ...response },
      },
    },
    async (request, reply) => {
      const subnet = acceptedValue(await ledger.createSubnet(request.body, askerFrom(request)));
      markChange(request, reply, recordTag(subnet));
      const status = createdStatus(request, true);
      if (status === 201) reply.header("location", `${API_ROOT}/subnets/${subnet.id}`);
      return reply.code(status).send(view(subnet));
    },
  );
  api.patch(
    SUBNET,
    { schema: { tags, summary: "Change", params: referenceParameters, body: subnetChangeSchema, ...changeParts, response } },
    async (request, reply) => {
      const { id } = findSubnet(ledger, request.params.ref);
      const subnet = acceptedValue(await ledger.changeSubnet(id, request.body, askerFrom(request)));
      markChange(request, reply, recordTag(subnet));
      return view(subnet);
    },
  );
  api.delete(
    SUBNET,
    { schema: { tags, summary: "Remove", params: referenceParameters, ...changeParts, response } },
    async (request, reply) => {
      const subnet = findSubnet(ledger, request.params.ref);
      const before = view(subnet);
      acceptedValue(await ledger.removeSubnet(subnet.id, askerFrom(request)));
      markChange(request, reply, null);
      return before;
    },
  );
}

/** By number or prefix; a prefix that stands in several sites is refused, with the numbers. */
export function findSubnet(ledger: Ledger, reference: string): Subnet {
  const found = ledger.subnets().filter(({ id, prefix }) => String(id) === reference || prefix === reference);
  const [subnet, ...others] = found;
  if (subnet === undefined) {
    throw new ApiRefusal(404, [
      { code: "subnet-unknown", at: reference, message: "no such subnet is declared", remedy: "see 'berth subnet list'" },
    ]);
  }
  if (others.length > 0) {
    const choices = found.map(({ id, site }) => `${id} (site ${site})`).join(", ");
    throw new ApiRefusal(409, [
      {
        code: "subnet-ambiguous",
        at: reference,
        message: "the prefix stands in several sites",
        remedy: `say its number: ${choices}`,
      },
    ]);
  }
  return subnet;
}

function subnetViewer(ledger: Ledger, racks: readonly RackView[]): (subnet: Subnet) => SubnetView {
  const attached = racksByPrefix(racks);
  const view = (subnet: Subnet, { allocations, quarantines }: ReturnType<Ledger["usage"]>): SubnetView => ({
    id: subnet.id,
    prefix: subnet.prefix,
    site: subnet.site,
    gateway: subnet.gateway,
    domain: subnet.domain,
    mode: subnet.mode,
    window: subnet.window,
    enlistment: subnet.enlistment,
    reserved: [...subnet.reserved],
    dns: subnet.dns === null ? null : [...subnet.dns],
    ntp: subnet.ntp === null ? null : [...subnet.ntp],
    leaseTime: subnet.leaseTime,
    maxLeaseTime: subnet.maxLeaseTime,
    dhcp: subnet.dhcp ?? null,
    createdAt: isoTime(subnet.createdAt),
    allocations,
    quarantined: quarantines,
    racks: [...new Set(keysOf(subnet).flatMap((key) => [...(attached.get(key) ?? [])]))].sort(),
  });
  return (subnet) => view(subnet, ledger.usage(subnet.id));
}

/** A relayed network is on no rack's link: the racks that its relays forward to are its own. */
function keysOf({ site, prefix, dhcp }: Subnet): string[] {
  const servers = dhcp?.relay?.servers ?? [];
  return [prefix, ...servers].map((place) => `${site} ${place}`);
}

/** By site and prefix, and by site and address. */
function racksByPrefix(racks: readonly RackView[]): Map<string, Set<string>> {
  const attached = new Map<string, Set<string>>();
  for (const rack of racks) {
    for (const { addresses } of rack.interfaces) {
      for (const { address, prefixLength } of addresses) {
        for (const place of [prefixAround(address, prefixLength), address]) {
          const key = `${rack.site} ${place}`;
          const names = attached.get(key) ?? new Set();
          attached.set(key, names.add(rack.name));
        }
      }
    }
  }
  return attached;
}
