/** What messages show of a server that is given by a url, and the texts that they do not show. */
export function addressFacts(options: {
  readonly url: string;
  readonly password?: string | undefined;
  readonly tls?: { readonly passphrase?: string } | undefined;
}): { readonly address: string; readonly secrets: readonly string[] } {
  const { url, password = "", tls } = options;
  return { address: shownAddress(url), secrets: [...secretsOf(url), password, tls?.passphrase ?? ""] };
}

/** The url as messages may show it: without the credentials and the query, which may hold some. */
export function shownAddress(url: string): string {
  if (URL.canParse(url)) {
    const { protocol, host, pathname } = new URL(url);
    return `${protocol}//${host}${pathname === "/" ? "" : pathname}`;
  }
  // An address of several hosts. Whatever stands before the last @ may belong to the password.
  return url.replace(/^([a-z][a-z0-9+.-]*:\/\/).*@/is, "$1").replace(/[?#].*$/s, "");
}

/** Names of parameters of a query whose values are secrets. */
const SECRET_PARAMETER = /pass|secret|token|key|auth/i;

/** The secrets that stand in a url, as they stand there and as they are meant. */
export function secretsOf(url: string): string[] {
  const credentials = /^[a-z][a-z0-9+.-]*:\/\/(.*)@/is.exec(url)?.[1] ?? "";
  const passwords = credentials.includes(":") ? [credentials.slice(credentials.indexOf(":") + 1)] : [];
  for (const pair of (/\?([^#]*)/s.exec(url)?.[1] ?? "").split("&")) {
    const [name = "", ...value] = pair.split("=");
    if (SECRET_PARAMETER.test(name)) passwords.push(value.join("="));
  }
  return passwords.filter((text) => text !== "").flatMap((text) => [text, decoded(text)]);
}

/** The text that a part of a url stands for. */
export function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
