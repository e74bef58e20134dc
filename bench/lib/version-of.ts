import { readFileSync } from "node:fs";

/** The version of an installed package, as the reports state it. A bench runs as a bundle in bench/node_modules/.cache. */
export function versionOf(packageName: string): string {
  for (const folder of ["../", "../../../node_modules/"]) {
    try {
      const text = readFileSync(new URL(`${folder}${packageName}/package.json`, import.meta.url), "utf8");
      return (JSON.parse(text) as { version: string }).version;
    } catch {
      // Peers are installed in bench/, what the library itself uses above it.
    }
  }
  return "of unknown version";
}
