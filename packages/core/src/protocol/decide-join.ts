import { accepted, refused, type Result } from "../problem.js";
import { rackNameSchema, type JoinRequest } from "./join.js";

/** A rack that the region knows. */
export interface KnownRack {
  readonly id: string;
  readonly name: string;
  readonly site: string;
  /** SHA-256 of the public key (SPKI DER) in hex. */
  readonly publicKeyHash: string;
}

export interface JoinQuestion {
  readonly request: JoinRequest;
  /** SHA-256 of the public key in the request. */
  readonly publicKeyHash: string;
  /** What the operator fixed when the token was made. */
  readonly token: { readonly rackName: string | null; readonly site: string; readonly replaces: boolean };
  readonly racks: readonly KnownRack[];
}

/**
 * Who a joining host is from now on. The key decides first: a host that joins again with the key we know stays the rack it was. A token made to
 * replace the host of a known rack does so: same id and name, new key, and the old key is worth nothing from then on.
 */
export function decideJoin({ request, publicKeyHash, token, racks }: JoinQuestion): Result<KnownRack> {
  const same = racks.find((rack) => rack.publicKeyHash === publicKeyHash);
  if (same !== undefined) return accepted({ ...same, name: freeName(request.name, same, racks) ?? same.name });
  const replaced = token.rackName === null || !token.replaces ? undefined : racks.find((rack) => rack.name === token.rackName);
  if (replaced !== undefined) return accepted({ ...replaced, publicKeyHash });
  if (racks.some((rack) => rack.id === request.rack))
    return refused({
      code: "rack-key-differs",
      at: request.rack,
      message: "a rack with this id is known by another key",
      remedy: "make a token for that rack's name with --replace to replace its host, or give this host a state folder of its own",
    });
  const wanted = token.rackName ?? request.name;
  if (wanted !== null && racks.some((rack) => rack.name === wanted))
    return refused({
      code: "rack-name-taken",
      at: wanted,
      message: `another rack is called ${wanted}`,
      remedy: "choose another name, or make a token for this name with --replace to replace that rack's host",
    });
  return accepted({ id: request.rack, name: wanted ?? hostName(request, racks), site: token.site, publicKeyHash });
}

function freeName(name: string | null, self: KnownRack, racks: readonly KnownRack[]): string | null {
  return name === null || racks.some((rack) => rack.name === name && rack.id !== self.id) ? null : name;
}

/** The host name, short or fully qualified, where it may be a name at all; with a number behind it when another rack has it. */
function hostName(request: JoinRequest, racks: readonly KnownRack[]): string {
  const host = rackNameSchema.safeParse(request.hostname.toLowerCase().replace(/\.$/, ""));
  const base = host.success ? host.data : `rack-${request.rack.slice(0, 8)}`;
  const taken = new Set(racks.map((rack) => rack.name));
  for (let number = 1; ; number++) {
    const name = number === 1 ? base : `${base.slice(0, 56)}-${number}`;
    if (!taken.has(name)) return name;
  }
}
