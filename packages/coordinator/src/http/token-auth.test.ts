import { describe, expect, it } from "vitest";
import { createTokenAuth, digestApiToken, makeApiToken, mayAct } from "./token-auth.js";

describe("API tokens", () => {
  it("are long, differ, and stand in one word", () => {
    const tokens = Array.from({ length: 100 }, makeApiToken);
    expect(new Set(tokens).size).toBe(100);
    for (const token of tokens) expect(token).toMatch(/^berth_[\w-]{43}$/);
  });

  it("are known by their digest alone, each with its own name and role", () => {
    const [one, two] = [makeApiToken(), makeApiToken()];
    const auth = createTokenAuth([
      { name: "one", role: "admin", digest: digestApiToken(one) },
      { name: "two", role: "read", digest: digestApiToken(two) },
      { name: "broken", role: "admin", digest: "" },
    ]);
    expect(auth.identify(one)).toEqual({ name: "one", role: "admin" });
    expect(auth.identify(two)).toEqual({ name: "two", role: "read" });
    for (const token of ["", "x", one.slice(0, -1), digestApiToken(one)]) expect(auth.identify(token)).toBeNull();
    expect(createTokenAuth([]).identify(one)).toBeNull();
  });

  it("may do what their role and the lesser ones may", () => {
    const may = (role: "read" | "operate" | "admin") =>
      (["read", "operate", "admin"] as const).map((needed) => mayAct({ name: "x", role }, needed));
    expect([may("read"), may("operate"), may("admin")]).toEqual([
      [true, false, false],
      [true, true, false],
      [true, true, true],
    ]);
  });
});
