/** The url as messages may show it: without the credentials and what comes after the path, which may hold some. */
export function shownAddress(url: string): string {
  return url.replace(/[?#].*$/s, "").replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/]*@/i, "$1");
}

/** The credentials that stand in a url, as they stand there and as they are meant. */
export function secretsOf(url: string): string[] {
  const password = /^[a-z][a-z0-9+.-]*:\/\/[^/@]*?:([^/]*)@/i.exec(url)?.[1] ?? "";
  const query = /\?([^#]*)/s.exec(url)?.[1] ?? "";
  const values = query.split("&").map((pair) => pair.slice(pair.indexOf("=") + 1));
  return [password, ...values]
    .filter((text) => text.length > 3 || text === password)
    .flatMap((text) => [text, decoded(text)]);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
