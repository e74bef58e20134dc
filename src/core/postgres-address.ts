/** The urls of the hosts of a url, in their order, each with one host. */
export function urlsOf(url: string): string[] {
  const [, head = "", hosts = "", tail = ""] = /^([a-z]+:\/\/(?:[^/?#]*@)?)([^/?#]*)(.*)$/is.exec(url) ?? [];
  return hosts.split(",").map((host) => `${head}${host}${tail}`);
}

/** A url as postgres.js takes it, and the folder of the unix socket that it names as `host`, if it names one: there,
 *  postgres.js would take `host` for a setting of the server. */
export function withoutSocketFolder(url: string): { readonly url: string; readonly folder: string | null } {
  const [head = "", query = ""] = url.split(/\?(.*)/s);
  const parameters = new URLSearchParams(query);
  const folder = parameters.get("host");
  if (folder === null || !folder.startsWith("/")) return { url, folder: null };
  parameters.delete("host");
  const rest = parameters.toString();
  return { url: rest === "" ? head : `${head}?${rest}`, folder };
}
