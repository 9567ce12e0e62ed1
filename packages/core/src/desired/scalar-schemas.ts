import { z } from "zod";
import { parseHardwareAddress, type HardwareAddress } from "../address/hardware.js";
import { parseIpAddress, type IpAddress } from "../address/ip.js";
import { parseIpPrefix, type IpPrefix } from "../address/prefix.js";

/** Schemas of the scalar values, shared by desired state, protocol, configuration and API. */
export const ipAddressSchema = z
  .string()
  .max(45)
  .transform((text, context): IpAddress => {
    const address = parseIpAddress(text);
    if (address !== null) return address;
    context.issues.push({ code: "custom", input: text, message: "not an IP address (no leading zeros, no zone)" });
    return z.NEVER;
  });

export const ipPrefixSchema = z
  .string()
  .max(49)
  .transform((text, context): IpPrefix => {
    const prefix = parseIpPrefix(text);
    if (prefix.ok) return prefix.value;
    for (const { message, remedy } of prefix.problems)
      context.issues.push({ code: "custom", input: text, message: remedy === undefined ? message : `${message}: ${remedy}` });
    return z.NEVER;
  });

export const hardwareAddressSchema = z
  .string()
  .max(60)
  .transform((text, context): HardwareAddress => {
    const address = parseHardwareAddress(text);
    if (address !== null) return address;
    context.issues.push({ code: "custom", input: text, message: "not a hardware address" });
    return z.NEVER;
  });

/** A domain name in canonical form: lower-case A-labels, no final dot. */
export const domainNameSchema = z
  .string()
  .max(253)
  .regex(
    /^(?=.{1,253}$)[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?)*$/,
    "not a domain name in lower case without final dot",
  );
