// Signatures of Standard Webhooks (https://www.standardwebhooks.com), version 1.0.0: HMAC-SHA256 over
// `id.timestamp.body`, where the key is what follows `whsec_`, in Base64.

const PREFIX = "whsec_";
/** Lengths of keys that the specification allows, in bytes. */
const KEY_BYTES_MIN = 24;
const KEY_BYTES_MAX = 64;

/** The bytes of a secret; null for a text that is none. */
export function keyOf(secret: string): Uint8Array<ArrayBuffer> | null {
  if (!secret.startsWith(PREFIX)) return null;
  try {
    const bytes = Uint8Array.from(atob(secret.slice(PREFIX.length)), (unit) => unit.charCodeAt(0));
    return bytes.length >= KEY_BYTES_MIN && bytes.length <= KEY_BYTES_MAX ? bytes : null;
  } catch {
    return null;
  }
}

/** The headers of a signed message. Of several keys, each signs.
 *  @param timestamp in seconds since the epoch */
export async function signedHeaders(
  keys: readonly Uint8Array<ArrayBuffer>[],
  id: string,
  timestamp: number,
  body: string,
): Promise<Record<string, string>> {
  const content = new TextEncoder().encode(`${id}.${timestamp}.${body}`);
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const signatures = await Promise.all(
    keys.map(async (key) => {
      const imported = await crypto.subtle.importKey("raw", key, algorithm, false, ["sign"]);
      const bytes = new Uint8Array(await crypto.subtle.sign("HMAC", imported, content));
      return `v1,${btoa(String.fromCharCode(...bytes))}`;
    }),
  );
  const facts = { "webhook-id": id, "webhook-timestamp": String(timestamp) };
  return signatures.length === 0 ? facts : { ...facts, "webhook-signature": signatures.join(" ") };
}
