import { createHmac, timingSafeEqual } from "node:crypto";

/** Headers of a delivery. The signature covers the time, so that an old delivery cannot be played back later. */
export const TIMESTAMP_HEADER = "berth-timestamp";
export const SIGNATURE_HEADER = "berth-signature";
export const DELIVERY_HEADER = "berth-delivery";

/** `sha256=` and the HMAC-SHA256 (RFC 2104) of `TIMESTAMP.BODY` in hex. The time in seconds since 1970. */
export function signDelivery(secret: string, timestamp: number, body: string): string {
  return `sha256=${createHmac("sha256", secret).update(`${timestamp}.${body}`, "utf8").digest("hex")}`;
}

/** What a receiver does: true if the signature is that of the secret and the time is not further away than `toleranceSeconds`. */
export function isSigned(
  secret: string,
  delivery: { readonly timestamp: number; readonly body: string; readonly signature: string },
  at: { readonly now: number; readonly toleranceSeconds: number },
): boolean {
  const expected = Buffer.from(signDelivery(secret, delivery.timestamp, delivery.body));
  const given = Buffer.from(delivery.signature);
  const fresh = Math.abs(at.now - delivery.timestamp) <= at.toleranceSeconds;
  return fresh && given.length === expected.length && timingSafeEqual(given, expected);
}
