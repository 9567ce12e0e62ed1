// The only barrel of the package. One block an area, in the order in which the data travels.
export * from "./problem.js";
export * from "./version.js";
export * from "./text/issue-text.js";
export * from "./text/printable.js";

export * from "./address/ip.js";
export * from "./address/prefix.js";
export * from "./address/hardware.js";
export * from "./address/ranges.js";

// lease: dhcpd's and Kea's lease files
export * from "./lease/model.js";
export type * from "./lease/reader.js";
export * from "./lease/standing.js";
export * from "./lease/hostname.js";
export * from "./lease/octets.js";
export * from "./lease/hardware-of.js";
export * from "./lease/same-lease.js";
export * from "./lease/contract.js";
export * from "./lease/format-leases.js";
export * from "./lease/lease-report.js";
export { createLeaseReader, type LeaseReaderOptions } from "./lease/dhcpd/lease-reader.js";
export { trimLeases, type TrimmedLeases } from "./lease/dhcpd/trim-leases.js";
export { formatTime } from "./lease/dhcpd/time-value.js";
export * from "./lease/follow.js";
export * from "./lease/kea/kea-reader.js";
export * from "./lease/kea/kea-files.js";
export { isKeaHead } from "./lease/kea/kea-line.js";

// interface: addresses of a host and their verdicts
export type * from "./interface/model.js";
export * from "./interface/parse-interfaces.js";
export * from "./interface/parse-address-json.js";
export * from "./interface/parse-address-text.js";
export * from "./interface/parse-routes.js";
export * from "./interface/parse-neighbors.js";
export * from "./interface/verdict.js";
export type { AddressKnowledge } from "./interface/candidate.js";
export * from "./interface/judge-addresses.js";
export * from "./interface/publish-addresses.js";
export * from "./interface/covering-prefix.js";
export * from "./interface/classify.js";
export * from "./interface/settle-verdicts.js";
export * from "./interface/real-address-on.js";
export * from "./interface/route-evidence.js";
export * from "./interface/find-rack-links.js";

// omapi: asking dhcpd about its leases
export * from "./omapi/message.js";
export * from "./omapi/encode-message.js";
export * from "./omapi/omapi-reader.js";
export * from "./omapi/requests.js";
export * from "./omapi/objects.js";
export * from "./dhcpd/omapi.js";

// topology: all racks' observations merged
export type * from "./topology/rack-view.js";
export * from "./topology/persistent-map.js";
export * from "./topology/topology.js";
export * from "./topology/merge.js";
export * from "./topology/connection.js";
export * from "./topology/fleet-verdict.js";
export * from "./topology/holders.js";
export * from "./topology/topology-problems.js";
export * from "./topology/networks.js";
export * from "./topology/segments.js";
export * from "./topology/servers-for.js";
export * from "./topology/region-addresses.js";
export * from "./topology/ntp-packet.js";
export * from "./topology/from-rack-views.js";
export * from "./topology/rack-finder.js";
export * from "./topology/rack-index.js";
export * from "./topology/stored-topology.js";
export * from "./topology/next-change.js";
export * from "./topology/kept-addresses.js";

// names: labels and pre-made names
export * from "./names/host-name.js";
export * from "./names/premade.js";
export * from "./names/client-name.js";
export * from "./names/assign-client-names.js";
export * from "./names/a-label.js";

// ipam: the ledger of static allocations
export type * from "./ipam/model.js";
export * from "./ipam/prefixes-by-id.js";
export type * from "./ipam/change.js";
export type * from "./ipam/request.js";
export type * from "./ipam/decision.js";
export * from "./ipam/ledger-state.js";
export * from "./ipam/observed.js";
export * from "./ipam/served-subnets.js";
export * from "./ipam/wire-sightings.js";
export * from "./ipam/wire-record.js";
export * from "./ipam/wire-records.js";
export * from "./ipam/verify-allocation.js";
export * from "./ipam/probe-wishes.js";
export { addressWarnings } from "./ipam/choose-address.js";
export * from "./ipam/declare-subnet.js";
export * from "./ipam/enroll-machine.js";
export * from "./ipam/enlist-machine.js";
export * from "./ipam/change-machine.js";
export { releaseMachine } from "./ipam/release-machine.js";
export type { Allocated, AllocateContext } from "./ipam/keep-allocation.js";
export * from "./ipam/add-address.js";
export * from "./ipam/change-vip.js";
export * from "./ipam/find-allocation.js";
export * from "./ipam/find-machine.js";
export * from "./ipam/release-allocation.js";
export * from "./ipam/allocate-many.js";
export * from "./ipam/reserve.js";
export * from "./ipam/change-record.js";
export * from "./ipam/domain-of-name.js";
export * from "./ipam/check-ledger.js";
export * from "./ipam/enroll-all.js";
export * from "./ipam/import-all.js";

// import: machines as other systems have them
export * from "./import/import-row.js";
export * from "./import/read-csv.js";
export * from "./import/read-dhcpd-conf.js";
export * from "./import/read-maas.js";
export * from "./import/read-netbox.js";
export * from "./import/shared-addresses.js";
export * from "./import/finish-rows.js";

// adopt: an existing dhcpd.conf read into a plan
export * from "./adopt/plan.js";
export type { ConfFiles } from "./adopt/conf-tree.js";
export type { AdoptingHost } from "./adopt/adopt-relays.js";
export * from "./adopt/adopt-conf.js";

// desired: what one rack must run
export * from "./desired/schema.js";
export * from "./desired/dhcp-settings.js";
export * from "./desired/digest.js";
export * from "./desired/share.js";
export * from "./desired/change.js";
export * from "./desired/desired-digests.js";
export * from "./desired/accept.js";
export * from "./desired/observe-only.js";
export * from "./desired/retirement.js";

// plan: ledger and topology to desired states
export type { PlanPolicy, PlanSources } from "./plan/site-view.js";
export type { LedgerFacts } from "./plan/ledger-facts.js";
export { changeHolds, subnetHolds, type SubnetHolds } from "./plan/subnet-holds.js";
export { ZoneComposer } from "./plan/zone-composer.js";
export * from "./plan/assign-slices.js";
export * from "./plan/plan-racks.js";
export { pairsIn, type Pair, type Pairs } from "./plan/pair-racks.js";
export * from "./plan/number-zones.js";

// dhcpd: desired state to dhcpd.conf
export type * from "./dhcpd/config.js";
export type * from "./dhcpd/rack-links.js";
export * from "./dhcpd/compile.js";
export { failoverName } from "./dhcpd/compile-window.js";
export * from "./dhcpd/enlistment.js";
export * from "./dhcpd/review.js";
export * from "./dhcpd/snippet.js";
export * from "./dhcpd/dhcpd-refusal.js";
export * from "./dhcpd/dhcpd-file.js";
export { DHCPD_HEADER } from "./dhcpd/render.js";
export type * from "./dhcpd/config6.js";
export * from "./dhcpd/compile6.js";
export * from "./dhcpd/review6.js";
export * from "./dhcpd/render6.js";
export * from "./dhcpd/probe-targets.js";

// dns: desired state to zones and named.conf
export * from "./dns/reverse.js";
export * from "./dns/premade-names.js";
export * from "./dns/zone-file-name.js";
export * from "./dns/check-zones.js";
export * from "./dns/compile-zones.js";
export * from "./dns/zone-text.js";
export * from "./dns/named-conf.js";
export * from "./dns/listen-addresses.js";
export * from "./dns/compose.js";

// dhcp-packet: what goes over the wire between DHCP clients and servers
export * from "./dhcp-packet/model.js";
export * from "./dhcp-packet/encode-question.js";
export * from "./dhcp-packet/decode-reply.js";
export * from "./dhcp-packet/information-request.js";
export * from "./dhcp-packet/solicit.js";
export * from "./dhcp-packet/question-hardware-address.js";

// wire: who answers for an address
export * from "./wire/arping.js";
export * from "./wire/wire-answer.js";
export * from "./wire/wire-book.js";

// foreign-dhcp: servers on our links that are none of ours
export * from "./foreign-dhcp/foreign-servers.js";

// pool-use: how full the addresses for unknown machines are, and who gets none
export * from "./pool-use/served-pools.js";
export * from "./pool-use/pool-use.js";
export * from "./pool-use/unserved-clients.js";

// reconcile: what to do next, from desired, written and running
export * from "./reconcile/daemon-step.js";
export * from "./reconcile/managed-file.js";
export * from "./reconcile/activation.js";
export * from "./reconcile/liveness.js";

// protocol: what agent and coordinator say to each other
export * from "./protocol/messages.js";
export * from "./protocol/clock-skew.js";
export * from "./protocol/frame.js";
export * from "./protocol/wire.js";
export * from "./protocol/decode.js";
export * from "./protocol/channel.js";
export * from "./protocol/join.js";
export * from "./protocol/decide-join.js";
export * from "./protocol/link-state.js";
export * from "./protocol/outbox.js";
export * from "./protocol/wire-outbox.js";
export * from "./protocol/rack-leases.js";
export * from "./protocol/reported-facts.js";

// api: what the coordinator's HTTP API takes and answers
export * from "./api/page.js";
export * from "./api/sort-key.js";
export * from "./api/error.js";
export * from "./api/change.js";
export * from "./api/subnet.js";
export * from "./api/lease.js";
export * from "./api/lease-view.js";
export * from "./api/lease-search.js";
export * from "./api/allocation.js";
export * from "./api/machine.js";
export * from "./api/machine-list.js";
export * from "./api/import.js";
export * from "./api/subnet-servers.js";
export * from "./api/api-token.js";
export * from "./api/rack.js";
export * from "./api/system.js";
export * from "./api/rack-report.js";
export * from "./api/network.js";
export * from "./api/network-report.js";
export * from "./api/vip.js";
export * from "./api/name.js";
export * from "./api/reservation.js";
export * from "./api/audit.js";
export * from "./api/vip-report.js";

// notice: what happens, for other programs
export * from "./notice/notice.js";

// export: machines as other systems want them
export * from "./export/exported-machine.js";
export * from "./export/machines-csv.js";
export * from "./export/hosts-file.js";
export * from "./export/ansible-inventory.js";
export * from "./export/network-config.js";
