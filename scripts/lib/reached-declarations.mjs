// @ts-check

import { posix } from "node:path";

/**
 * The declarations that a program can reach: those of doors, and what they import, directly or through others. Pure, but
 * for what `textOf` reads.
 *
 * @param {readonly string[]} doors paths below the folder of all declarations
 * @param {(path: string) => string} textOf the text of a declaration that tsc wrote: an import is a line of its own
 * @returns {Set<string>} paths below the same folder
 */
export function reachedDeclarations(doors, textOf) {
  const reached = new Set(doors);
  // A set also visits what joins it meanwhile.
  for (const path of reached) {
    for (const [, specifier = ""] of textOf(path).matchAll(/^(?:import|export) .* from "(\.[^"]+)";$/gm)) {
      reached.add(posix.join(posix.dirname(path), specifier).replace(/\.[jt]s$/, ".d.ts"));
    }
  }
  return reached;
}
