/** `URL.canParse`, which Workers lack before the compatibility date 2022-10-31, and older browsers too. */
export function canParseUrl(url: string | URL, base?: string | URL): boolean {
  try {
    new URL(url, base);
    return true;
  } catch {
    return false;
  }
}
