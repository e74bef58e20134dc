/** What follows the scheme in the header, whose name of the scheme is in any case. */
const BEARER = /^bearer +([!-~]+) *$/i;

/** The bearer token of a request; null where the request carries none, or another scheme. */
export function bearerOf(request: Request): string | null {
  return BEARER.exec(request.headers.get("authorization") ?? "")?.[1] ?? null;
}

/** Whether a request carries one of the secrets as its bearer token. Compares as {@link matching} does. */
export async function hasBearer(request: Request, secrets: readonly string[]): Promise<boolean> {
  const token = bearerOf(request) ?? "";
  return (await matching(token, secrets)).includes(true);
}

/**
 * Which of the secrets a guess is. Digests of equal length are compared, each to its last byte, and always all of them,
 * so that the time taken tells nothing of how much of a guess was right, nor of how long the secrets are.
 * @param secrets a list that stays as it is: its digests are made once
 */
export async function matching(guess: string, secrets: readonly string[]): Promise<readonly boolean[]> {
  const allowed = digests.get(secrets) ?? (await Promise.all(secrets.map(digestOf)));
  digests.set(secrets, allowed);
  const given = await digestOf(guess);
  return allowed.map((digest) => isEqual(given, digest));
}

/** The digests of lists of secrets, which nobody changes. Not their promises: those would belong to the request that
 *  made them (Workers). */
const digests = new WeakMap<readonly string[], readonly Uint8Array[]>();

async function digestOf(text: string): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));
}

function isEqual(one: Uint8Array, other: Uint8Array): boolean {
  let difference = one.length ^ other.length;
  for (const [index, byte] of one.entries()) difference |= byte ^ (other[index] ?? 0);
  return difference === 0;
}
