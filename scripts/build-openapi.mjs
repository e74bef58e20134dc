// @ts-check

// Writes the OpenAPI document of the router, and the JSON Schema of declared schedules, made of the schemas that the
// router checks requests against. With --check it compares them with those in src, and fails when they differ.
import { readFileSync, writeFileSync } from "node:fs";
import { bundleImport } from "./lib/bundle-import.mjs";
import { openApiOf } from "./lib/openapi.mjs";

/** As in `src/scheduler/verbs/limits.ts`. */
const BULK_COMMIT_MAX = 1000;

const document = openApiOf(await bundleImport("src/hono/openapi/parts.ts"));
const files = {
  "src/hono/openapi/document.ts": textOf("openApiDocument", "The OpenAPI document of the router", document),
  "src/insight/declared-schema.ts": textOf(
    "declaredSchemaText",
    "The JSON Schema of declared schedules",
    declaredSchemaOf(document),
  ),
};

for (const [path, text] of Object.entries(files)) {
  const file = new URL(`../${path}`, import.meta.url);
  if (!process.argv.includes("--check")) {
    writeFileSync(file, text);
  } else if (readFileSync(file, "utf8") !== text) {
    console.error(`${path} is not what the schemas say: run npm run build:openapi`);
    process.exit(1);
  }
}

/** The schema of the schedules that a plan takes, with all that it refers to. @param {any} document */
function declaredSchemaOf({ components: { schemas } }) {
  /** @type {Record<string, unknown>} */
  const definitions = {};
  /** @param {string} name */
  const define = (name) => {
    if (name in definitions) return;
    definitions[name] = null;
    const text = JSON.stringify(schemas[name]).replaceAll(/"#\/components\/schemas\/(\w+)"/g, (_, other) => {
      define(other);
      return `"#/$defs/${other}"`;
    });
    definitions[name] = JSON.parse(text);
  };
  define("DeclaredBody");
  const { DeclaredBody: items, ...others } = definitions;
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "Schedules as code",
    ...{ type: "array", maxItems: BULK_COMMIT_MAX, items },
    $defs: others,
  };
}

/** A module with JSON as text, in lines of less than 120 characters.
 *  @param {string} name @param {string} what @param {object} json */
function textOf(name, what, json) {
  const lines = JSON.stringify(json).match(/.{1,104}/gsu) ?? [];
  return `// Made by scripts/build-openapi.mjs from the schemas of the router. Do not edit.

/** ${what}, as JSON. */
export const ${name}: string = [
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
