import { existsSync } from "node:fs";

/** What to do about a worker that was lost because its program is not there, as in a bundle that lacks it. Empty where
 *  the program is there. @param entry the URL of the program */
export function missingEntryAdvice(entry: string): string {
  if (!entry.startsWith("file:") || existsSync(new URL(entry))) return "";
  const name = entry.slice(entry.lastIndexOf("/") + 1);
  return `; ${entry} is not there: whoever bundles the program adds ${name} of escapement, or names it by entry`;
}
