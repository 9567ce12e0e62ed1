import { describe, expect, it } from "vitest";
import { decideJoin, type JoinQuestion, type KnownRack } from "./decide-join.js";
import type { JoinRequest } from "./join.js";

const REQUEST: JoinRequest = {
  token: "t",
  rack: "11111111-aaaa",
  name: null,
  hostname: "Host7.example.com.",
  version: "1",
  request: "pem",
};
const KNOWN: KnownRack = { id: "22222222-bbbb", name: "r1", site: "east", publicKeyHash: "key-r1" };

function ask(changes: Partial<JoinQuestion> = {}, request: Partial<JoinRequest> = {}) {
  const question = {
    publicKeyHash: "key-new",
    token: { rackName: null, site: "west", replaces: false },
    racks: [KNOWN],
    ...changes,
  };
  return decideJoin({ ...question, request: { ...REQUEST, ...request } });
}

describe("decideJoin", () => {
  it("names a new rack by the token, else by its wish, else by its host name", () => {
    expect(ask({ token: { rackName: "t1", site: "west", replaces: false } }, { name: "wish" })).toMatchObject({
      value: { id: REQUEST.rack, name: "t1", site: "west" },
    });
    expect(ask({}, { name: "wish" })).toMatchObject({ value: { name: "wish" } });
    expect(ask()).toMatchObject({ value: { name: "host7.example.com" } });
  });

  it("finds a name where the host's is none, or taken", () => {
    expect(ask({}, { hostname: "my rack!" })).toMatchObject({ value: { name: "rack-11111111" } });
    expect(ask({}, { hostname: "R1" })).toMatchObject({ value: { name: "r1-2" } });
  });

  it("the same key is the same rack, whatever it says of itself", () => {
    const same = ask({ publicKeyHash: "key-r1" }, { rack: "33333333-cccc", name: "other" });
    expect(same).toMatchObject({ value: { id: KNOWN.id, name: "other", site: "east" } });
    expect(ask({ publicKeyHash: "key-r1" })).toMatchObject({ value: KNOWN });
  });

  it("a token made to replace a known rack's host does, and one that was made before the name was taken does not", () => {
    const token = { rackName: "r1", site: "west", replaces: true };
    expect(ask({ token })).toMatchObject({ value: { ...KNOWN, publicKeyHash: "key-new" } });
    expect(ask({ token: { ...token, replaces: false } })).toMatchObject({ problems: [{ code: "rack-name-taken" }] });
  });

  it("refuses another rack's name and another rack's id", () => {
    expect(ask({}, { name: "r1" })).toMatchObject({ problems: [{ code: "rack-name-taken" }] });
    expect(ask({}, { rack: KNOWN.id })).toMatchObject({ problems: [{ code: "rack-key-differs" }] });
  });
});
