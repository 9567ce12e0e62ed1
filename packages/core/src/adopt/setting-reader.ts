import { addressFamily, parseIpAddress, type IpAddress, type IpFamily } from "../address/ip.js";
import { domainNameSchema } from "../desired/schema.js";
import type { ConfNode } from "./conf-tree.js";
import type { Findings } from "./findings.js";
import { findSetting, settingValues } from "./settings.js";

/** Reads the settings that reach one block; each value that cannot be had is a finding where it stands. */
export class SettingReader {
  readonly block: ConfNode;
  private readonly findings: Findings;

  constructor(block: ConfNode, findings: Findings) {
    this.block = block;
    this.findings = findings;
  }

  has(name: string): boolean {
    return findSetting(this.block, name) !== null;
  }

  values(name: string): string[] {
    const setting = findSetting(this.block, name);
    return setting === null ? [] : settingValues(setting);
  }

  /** At the statement that sets it. */
  refuse(name: string, why: string): void {
    this.findings.add(findSetting(this.block, name) ?? this.block, why);
  }

  /** Distinct, of one family, at most `max`. */
  addresses(name: string, family: IpFamily, max = 16): IpAddress[] {
    const values = this.values(name);
    const read = values.map((value) => parseIpAddress(value));
    const addresses = read.flatMap((address) => (address !== null && addressFamily(address) === family ? [address] : []));
    if (read.includes(null)) this.refuse(name, "a server that is named, not an address");
    else if (addresses.length < values.length) this.refuse(name, `not IPv${family} addresses`);
    const distinct = [...new Set(addresses)];
    if (distinct.length > max) this.refuse(name, `Berth gives ${max}, the first ones`);
    return distinct.slice(0, max);
  }

  /** Null when it is not set, or not to a whole number of these. */
  integer(name: string, min: number, max: number): number | null {
    const [value, ...more] = this.values(name);
    if (value === undefined) return null;
    if (/^-?\d{1,10}$/.test(value) && more.length === 0 && Number(value) >= min && Number(value) <= max) return Number(value);
    this.refuse(name, `not a number between ${min} and ${max}`);
    return null;
  }

  /** Null when it is not set, or not to names only. */
  domains(name: string): string[] | null {
    const values = this.values(name);
    const names = values.flatMap((value) => {
      const domain = domainNameSchema.safeParse(value.replace(/\.$/, "").toLowerCase());
      return domain.success ? [domain.data] : [];
    });
    if (names.length === values.length) return values.length === 0 ? null : names;
    this.refuse(name, "not domain names");
    return null;
  }
}
