import {
  API_ROOT,
  assert,
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
import { askerFrom, createdStatus, markChange } from "../asker-from.js";
import { findSubnet } from "../find-subnet.js";
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
      return { items: viewSubnets(page.items, ledger, racks()), next: page.next };
    },
  );
  const summary = "Show, by number or prefix";
  api.get(
    SUBNET,
    { schema: { tags, summary, params: referenceParameters, response: { 200: subnetViewSchema, ...errorAnswers } } },
    async (request, reply) => {
      const subnet = findSubnet(ledger, request.params.ref);
      return reply.header("etag", recordTag(subnet)).send(viewSubnet(subnet, ledger, racks()));
    },
  );
}

function changeRoutes(api: ApiServer, { ledger, racks }: ApiPorts): void {
  const view = (subnet: Subnet): SubnetView => viewSubnet(subnet, ledger, racks());
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

function viewSubnets(subnets: readonly Subnet[], ledger: Ledger, racks: readonly RackView[]): SubnetView[] {
  const attached = racksByPlace(racks, new Set(subnets.flatMap(placesOf)));
  const racksOf = (subnet: Subnet): string[] =>
    placesOf(subnet).flatMap((place) => [...(attached.get(`${subnet.site} ${place}`) ?? [])]);
  return subnets.map((subnet) => showSubnet(subnet, ledger, racksOf(subnet)));
}

function viewSubnet(subnet: Subnet, ledger: Ledger, racks: readonly RackView[]): SubnetView {
  const [view] = viewSubnets([subnet], ledger, racks);
  assert(view !== undefined, "a subnet without a view");
  return view;
}

function showSubnet(subnet: Subnet, ledger: Ledger, racks: readonly string[]): SubnetView {
  const { allocations, quarantines } = ledger.usage(subnet.id);
  return {
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
    racks: [...new Set(racks)].sort(),
  };
}

/** Where racks of a subnet have an address. A relayed network is on no rack's link: the racks that its relays forward to are its own. */
function placesOf({ prefix, dhcp }: Subnet): string[] {
  return [prefix, ...(dhcp?.relay?.servers ?? [])];
}

/** Names of racks by site and place, of the places that are asked for: what one subnet costs must not be what all racks have. */
function racksByPlace(racks: readonly RackView[], asked: ReadonlySet<string>): ReadonlyMap<string, ReadonlySet<string>> {
  const attached = new Map<string, Set<string>>();
  for (const { interfaces, name, site } of racks) {
    for (const place of placesOfRack(interfaces)) {
      if (!asked.has(place)) continue;
      const names = attached.get(`${site} ${place}`) ?? new Set();
      attached.set(`${site} ${place}`, names.add(name));
    }
  }
  return attached;
}

/** A reported interface list is replaced, never changed, so the prefixes around its addresses are made once. */
const placesOfReport = new WeakMap<RackView["interfaces"], ReadonlySet<string>>();

/** Every address that a rack has, and the prefix around it. */
function placesOfRack(interfaces: RackView["interfaces"]): ReadonlySet<string> {
  let places = placesOfReport.get(interfaces);
  if (places === undefined) {
    const addresses = interfaces.flatMap((each) => each.addresses);
    places = new Set(addresses.flatMap(({ address, prefixLength }) => [prefixAround(address, prefixLength), address]));
    placesOfReport.set(interfaces, places);
  }
  return places;
}
