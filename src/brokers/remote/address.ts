import { shownAddress } from "../../core/shown-address.ts";

/** What messages show of a server that is given by a url, and the texts that they do not show. */
export function addressFacts(options: {
  readonly url: string;
  readonly password?: string | undefined;
  readonly tls?: { readonly passphrase?: string | undefined } | undefined;
}): { readonly address: string; readonly secrets: readonly string[] } {
  const { url, password = "", tls } = options;
  return { address: shownAddress(url), secrets: [...secretsOf(url), password, tls?.passphrase ?? ""] };
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
