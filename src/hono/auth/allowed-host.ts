/** Names that lead to the same machine. */
const LOOPBACK = /^((.+\.)?localhost|127(\.\d+){3}|\[::1\])$/;

/** Whether the `Host` of a request is one of loopback's or of the given names, whatever its port. A page of another
 *  site cannot choose it: it is the name that the page itself was loaded from. */
export function hasAllowedHost(request: Request, names: readonly string[]): boolean {
  const host = (request.headers.get("host") ?? new URL(request.url).host).toLowerCase();
  const name = host.replace(/:\d*$/, "");
  return LOOPBACK.test(name) || names.includes(name);
}
