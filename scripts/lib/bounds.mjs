// @ts-check

// The bounds of the library, as docs/bounds.md lists them: what `limits.ts` files export, and what else at the top of a
// file ends in `_MAX` or `_MIN`.
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

/**
 * @typedef {object} Bound
 * @property {string} path the source file
 * @property {{ name: string, value: string }[]} names with the values as the source has them
 * @property {string} reason the text of the comment before; empty for none
 */

const LIMITS_FILE = /(^|[/-])limits\.ts$/;
const DECLARATION = /^(export )?const ([A-Z][A-Z0-9_]*)(?:: number)? = ([-\d][^;]*|[A-Z(][^;"'`[{]*);$/;

/** The bounds of one source file, in the order of the file. Bounds that one comment is about come together.
 * @param {string} path
 * @param {string} text
 * @returns {Bound[]} */
export function boundsOf(path, text) {
  /** @type {Bound[]} */
  const bounds = [];
  let comment = "";
  let isOpen = false;
  for (const line of text.split("\n")) {
    if (line.startsWith("/**")) comment = "";
    if (/^(\/\*\*| \*)/.test(line)) comment += ` ${line.replace(/^(\/\*\*| \*\/?)/, "").replace(/\*\/$/, "")}`;
    const [, , name = "", value = ""] = DECLARATION.exec(line) ?? [];
    if (name !== "" && (LIMITS_FILE.test(path) || /_(MAX|MIN)$/.test(name))) {
      const last = bounds.at(-1);
      const one = { name, value: value.replaceAll("_", (_, at) => (/\d/.test(value[at - 1] ?? "") ? "," : "_")) };
      if (isOpen && last !== undefined) last.names.push(one);
      else bounds.push({ path, names: [one], reason: comment.replace(/\s+/g, " ").trim() });
      isOpen = true;
    } else if (!/^(\/\*\*| \*)/.test(line)) {
      isOpen = false;
      comment = "";
    }
  }
  return bounds;
}

/** All bounds of the sources below a folder. @param {string} root @returns {Bound[]} */
export function allBounds(root) {
  const paths = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" });
  return paths
    .map((path) => `src/${path.replaceAll("\\", "/")}`)
    .filter((path) => path.endsWith(".ts") && !path.includes("/built/"))
    .sort()
    .flatMap((path) => boundsOf(path, readFileSync(join(root, path), "utf8")));
}

/** The text of docs/bounds.md, without its list of chapters. @param {readonly Bound[]} bounds @returns {string} */
export function boundsPage(bounds) {
  const byRoom = new Map();
  for (const bound of bounds) {
    const room = dirname(bound.path).replace(/^src\/?/, "") || "src";
    byRoom.set(room, [...(byRoom.get(room) ?? []), bound]);
  }
  const rooms = [...byRoom].sort(([a], [b]) => (a < b ? -1 : 1));
  const listOf = (/** @type {Bound} */ { names, reason }) =>
    `- ${names.map(({ name, value }) => `\`${name}\` = ${value}`).join(", ")}  \n  ${reason}`;
  return `# Bounds

Every loop, batch, retry and text of the library has a bound. This page is made from the code (\`npm run build:bounds\`): what
each room of \`src/\` bounds, by how much, and why. Times are in milliseconds where a name has \`MS\`, texts in UTF-16 units where
it has \`LENGTH\`. What you can choose is an [option](README.md), and named there.

${rooms.map(([room, own]) => `## ${room}\n\n${own.map(listOf).join("\n")}`).join("\n\n")}
`;
}
