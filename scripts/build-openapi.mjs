// @ts-check

// Writes the OpenAPI document of the router, made of the schemas that the router checks requests against. With --check
// it compares the document with the one in src, and fails when they differ.
import { readFileSync, writeFileSync } from "node:fs";
import { bundleImport } from "./lib/bundle-import.mjs";
import { openApiOf } from "./lib/openapi.mjs";

const file = new URL("../src/hono/openapi/document.ts", import.meta.url);
const text = textOf(openApiOf(await bundleImport("src/hono/openapi/parts.ts")));

if (!process.argv.includes("--check")) {
  writeFileSync(file, text);
} else if (readFileSync(file, "utf8") !== text) {
  console.error("src/hono/openapi/document.ts is not what the schemas say: run npm run build:openapi");
  process.exit(1);
}

/** A module with the document as text, in lines of less than 120 characters. @param {object} document */
function textOf(document) {
  const lines = JSON.stringify(document).match(/.{1,104}/gsu) ?? [];
  return `// Made by scripts/build-openapi.mjs from the schemas of the router. Do not edit.

/** The OpenAPI document of the router, as JSON. */
export const openApiDocument: string = [
${lines.map((line) => `  ${literal(line)},`).join("\n")}
].join("");
`;
}

/** A literal in the quotes that the formatter chooses. @param {string} text */
function literal(text) {
  const escaped = text.replaceAll("\\", "\\\\");
  const count = (/** @type {string} */ quote) => text.split(quote).length - 1;
  return count('"') > count("'") ? `'${escaped.replaceAll("'", "\\'")}'` : `"${escaped.replaceAll('"', '\\"')}"`;
}
