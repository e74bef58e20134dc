import { Validator } from "@seriousme/openapi-schema-validator";
import { describe, expect, test } from "vitest";
import { routes } from "../../src/hono/routes/mod.ts";
import { setUpRouter } from "./support.ts";

interface Document {
  readonly openapi: string;
  readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

async function served(): Promise<Document> {
  const { body } = await setUpRouter().ask("GET /openapi.json");
  return body as Document;
}

describe("the document of the router", () => {
  test("is valid OpenAPI 3.1", async () => {
    const document = await served();
    // The validator resolves references in place.
    const { valid, errors } = await new Validator().validate(structuredClone({ ...document }));
    expect({ version: document.openapi, valid, errors }).toEqual({ version: "3.1.0", valid: true, errors: undefined });
  });

  test("has every route that the router has", async () => {
    const { paths } = await served();
    const listed = Object.entries(paths).flatMap(([path, operations]) =>
      Object.keys(operations).map((method) => `${method.toUpperCase()} ${path.replaceAll(/\{(\w+)\}/g, ":$1")}`),
    );
    expect(listed.sort()).toEqual(expect.arrayContaining(Object.keys(routes).sort()));
  });

  test("says defaults in words, because generators make required what has one", async () => {
    const text = JSON.stringify(await served());
    expect([text.includes('"default"'), text.includes('"description":"Default: 100"')]).toEqual([false, true]);
  });

  test("refers to nothing that it has not", async () => {
    const document = await served();
    const references = [...JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g)].map(([, path = ""]) => path);
    const missing = references.filter((path) => valueAt(document, path.split("/")) === undefined);
    expect({ missing, some: references.length > 0 }).toEqual({ missing: [], some: true });
  });
});

function valueAt(value: unknown, [name, ...names]: readonly string[]): unknown {
  if (name === undefined) return value;
  return typeof value === "object" && value !== null ? valueAt(Reflect.get(value, name), names) : undefined;
}
