import type { RowCodec } from "../../packed/row-table.js";
import type { Machine } from "../model.js";
import { readNics, writeNics } from "./octets-of-addresses.js";

const STATES = ["enlisted", "enrolled", "released"] as const;

/** A machine in some thirty octets. */
export const machineCodec: RowCodec<Machine> = {
  write({ createdAt, id, name, nics, state }, to) {
    to.id(id);
    to.octet(STATES.indexOf(state) | (name === null ? 0 : 4));
    if (name !== null) to.text(name);
    writeNics(nics, to);
    to.number(createdAt);
  },
  read(from) {
    const id = from.id();
    const shape = from.octet();
    const name = (shape & 4) === 0 ? null : from.text();
    return { id, name, state: STATES[shape & 3] ?? "enlisted", nics: readNics(from), createdAt: from.number() };
  },
};
