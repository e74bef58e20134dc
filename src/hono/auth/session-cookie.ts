import { SESSION_MS, SESSION_SKEW_MS } from "./limits.ts";

/** The name of the cookie. */
export const SESSION_COOKIE = "escapement_session";

const FORM = /^(\d{1,16})\.([0-9a-f]{64})$/;
/** What is signed begins with it, so that no signature of another purpose serves as a session. */
const PURPOSE = "escapement session until ";

/** The value of the cookie of a session: `expiry.HMAC(token, expiry)`. It does not hold the token, and ends with it: no
 *  other token opens it. @param expiresAtMs epoch milliseconds */
export async function sealSession(token: string, expiresAtMs: number): Promise<string> {
  const signature = await crypto.subtle.sign("HMAC", await keyOf(token, "sign"), messageOf(String(expiresAtMs)));
  const hex = [...new Uint8Array(signature)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return `${expiresAtMs}.${hex}`;
}

/** Which of the tokens a session belongs to; none of them when it has expired at `nowMs`, ends
 *  later than one that begins then, or was not made here. Each
 *  signature is compared in constant time, and always all of them. */
export async function openSession(value: string, tokens: readonly string[], nowMs: number): Promise<boolean[]> {
  const [, expiry = "", hex = ""] = FORM.exec(value) ?? [];
  // No expiry is 0, which is long past.
  const restMs = Number(expiry) - nowMs;
  // A clock that was set back must not give a session more time than it was to have.
  if (restMs <= 0 || restMs > SESSION_MS + SESSION_SKEW_MS) return tokens.map(() => false);
  const signature = Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
  const message = messageOf(expiry);
  return Promise.all(
    tokens.map(async (token) => crypto.subtle.verify("HMAC", await keyOf(token, "verify"), signature, message)),
  );
}

function messageOf(expiry: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(PURPOSE + expiry);
}

function keyOf(token: string, usage: "sign" | "verify"): Promise<CryptoKey> {
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  return crypto.subtle.importKey("raw", new TextEncoder().encode(token), algorithm, false, [usage]);
}
