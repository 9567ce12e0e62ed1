import type { HostInterface, LeaseReport } from "@berth/core";
import type { Files } from "@berth/host";
import type { AuditEntry, RackRecord, RackReport, Store, TokenRecord } from "../../../packages/coordinator/src/store/store.js";

/** Files that live as long as the test. */
export function memoryFiles(): Files & { readonly content: Map<string, Uint8Array>; readonly modes: Map<string, number> } {
  const content = new Map<string, Uint8Array>();
  const modes = new Map<string, number>();
  const put: Files["replace"] = (path, bytes, mode = 0o644) => {
    content.set(path, typeof bytes === "string" ? Buffer.from(bytes) : bytes);
    modes.set(path, mode);
    return Promise.resolve();
  };
  return {
    content,
    modes,
    read: (path) => Promise.resolve(content.get(path) ?? null),
    replace: put,
    write: put,
    move(from, to) {
      content.set(to, content.get(from) ?? new Uint8Array());
      content.delete(from);
      return Promise.resolve();
    },
    ensureDirectory: () => Promise.resolve(),
    remove(path) {
      content.delete(path);
      return Promise.resolve();
    },
  };
}

export type LinkStore = Pick<Store, "racks" | "tokens" | "reports"> & { readonly audit: Pick<Store["audit"], "append" | "list"> };

/** The part of a store that the link needs, as plainly as its contract can be kept. */
export function memoryStore(): LinkStore {
  const racks = new Map<string, RackRecord>();
  const tokens = new Map<string, TokenRecord>();
  const interfaces = new Map<string, { readonly list: readonly HostInterface[]; readonly at: number }>();
  const leases = new Map<string, Map<string, LeaseReport>>();
  const entries: AuditEntry[] = [];
  return {
    audit: {
      append: (entry) => Promise.resolve(void entries.push(entry)),
      list: (after, limit) =>
        Promise.resolve(entries.slice(after, after + limit).map((entry, place) => ({ ...entry, number: after + place + 1 }))),
    },
    racks: {
      list: () => Promise.resolve([...racks.values()]),
      save: (rack) => Promise.resolve(void racks.set(rack.id, rack)),
      remove(id) {
        for (const table of [racks, interfaces, leases]) table.delete(id);
        return Promise.resolve();
      },
    },
    tokens: {
      list: () => Promise.resolve([...tokens.values()]),
      save: (token) => Promise.resolve(void tokens.set(token.id, token)),
      use(id, usedBy, at) {
        const token = tokens.get(id);
        if (token?.usedBy === null) tokens.set(id, { ...token, usedBy, usedAt: at });
        return Promise.resolve(tokens.get(id) ?? null);
      },
      remove: (id) => Promise.resolve(void tokens.delete(id)),
    },
    reports: {
      load() {
        const reports = new Map<string, RackReport>();
        for (const id of racks.keys()) {
          const seen = interfaces.get(id);
          reports.set(id, {
            interfaces: seen?.list ?? [],
            interfacesAt: seen?.at ?? null,
            leases: [...(leases.get(id)?.values() ?? [])],
          });
        }
        return Promise.resolve(reports);
      },
      saveInterfaces: (id, list, at) => void interfaces.set(id, { list, at }),
      changeLeases(id, changed, gone) {
        const table = leases.get(id) ?? new Map<string, LeaseReport>();
        for (const address of gone) table.delete(address);
        for (const lease of changed) table.set(lease.address, lease);
        leases.set(id, table);
      },
      replaceLeases: (id, all) => void leases.set(id, new Map(all.map((lease) => [lease.address, lease]))),
      flush: () => Promise.resolve(),
    },
  };
}
