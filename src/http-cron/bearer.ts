/** What follows the scheme in the header, whose name of the scheme is in any case. */
const BEARER = /^bearer +([!-~]+) *$/i;

/**
 * Whether a request carries one of the secrets as its bearer token. Digests of equal length are compared, each to its
 * last byte, so that the time taken tells nothing of how much of a guess was right, nor of how long the secrets are.
 */
export async function hasBearer(request: Request, secrets: readonly string[]): Promise<boolean> {
  const token = BEARER.exec(request.headers.get("authorization") ?? "")?.[1] ?? "";
  // Made anew for each request: a promise that is kept would belong to the request that made it (Workers).
  const [given, ...allowed] = await Promise.all([token, ...secrets].map(digestOf));
  let isAllowed = false;
  for (const digest of allowed) {
    if (given !== undefined && isEqual(given, digest)) isAllowed = true;
  }
  return isAllowed;
}

async function digestOf(text: string): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));
}

function isEqual(one: Uint8Array, other: Uint8Array): boolean {
  let difference = one.length ^ other.length;
  for (const [index, byte] of one.entries()) difference |= byte ^ (other[index] ?? 0);
  return difference === 0;
}
