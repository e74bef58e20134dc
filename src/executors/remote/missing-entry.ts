/** What to do about a worker that was lost because its program is not there, as in a bundle that lacks it. Empty where
 *  the program is there. @param entry the URL of the program
 *  @param exists `existsSync` of `node:fs` */
export function missingEntryAdvice(entry: string, exists: (url: URL) => boolean): string {
  if (!entry.startsWith("file:") || exists(new URL(entry))) return "";
  const name = entry.slice(entry.lastIndexOf("/") + 1);
  return `; ${entry} is not there: whoever bundles the program adds ${name} of escapement, or names it by entry`;
}
