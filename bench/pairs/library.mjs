// The checkout that a program measures. Programs use only what both checkouts export.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

/** Whether the checkout has this door of the package, such as "." or "./libsql". */
export function hasDoor(checkout, door) {
  return fileOf(checkout, door) !== undefined;
}

/** The file behind a door. */
export function pathOf(checkout, door = ".") {
  return join(checkout, fileOf(checkout, door));
}

/** The public names behind a door, from the checkout's own `dist`. */
export function open(checkout, door = ".") {
  const file = fileOf(checkout, door);
  if (file === undefined) throw new Error(`${checkout} has no ${door}`);
  return import(new URL(file, `${pathToFileURL(checkout)}/`).href);
}

function fileOf(checkout, door) {
  return JSON.parse(readFileSync(`${checkout}/package.json`, "utf8")).exports[door]?.default;
}
