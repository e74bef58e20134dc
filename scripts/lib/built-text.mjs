// @ts-check

// What is changed in a file that esbuild wrote. Lines stay, for the sake of source maps.

/**
 * Gives classes the names that they have in the sources, in a file that esbuild wrote. esbuild writes a class that names
 * itself as `var A = class _A`, and one within a function as `class A2` where an `A` is outside. The inner name then is
 * that of stack traces and of `constructor.name`. It may as well be the outer one, because both are the same class. A
 * class is `A2`, too, where the file has another `A`: it is told its name. Pure.
 *
 * @param {string} text
 */
export function withOwnNames(text) {
  const renamed = [
    ...text.matchAll(/^var (?<own>\w+) = class (?<inner>_\k<own>)\b/gm),
    ...text.matchAll(/^var (?<own>\w+) = \/\* @__PURE__ \*\/ \(\(\) => \{\n\s*class (?<inner>\k<own>\d+)\b/gm),
  ];
  return renamed
    .reduce(
      (result, { groups }) => result.replaceAll(new RegExp(`\\b${groups?.inner}\\b`, "g"), groups?.own ?? ""),
      text,
    )
    .replaceAll(/^var ([A-Z]\w*?)\d+ = class( extends \w+)? \{$/gm, '$& static name = "$1";');
}

/**
 * Leaves out imports of chunks of which no name is used. They would only load them: nothing happens in a chunk, which is
 * why bundlers warn of such imports. Pure.
 *
 * @param {string} text
 */
export function withoutIdleImports(text) {
  return text.replaceAll(/^import "\.[^"\n]*";$/gm, "");
}
