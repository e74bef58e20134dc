import { Validator } from "@seriousme/openapi-schema-validator";
import { describe, expect, test } from "vitest";
import { routes } from "../../src/hono/routes/mod.ts";
import { insight } from "../../src/insight/mod.ts";
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

describe("a query", () => {
  test("with a name that its route does not take is refused by every GET route, with the name that is meant", async () => {
    const calendar = { tokens: ["a-secret-of-a-calendar"] };
    const metrics = { contentType: "text/plain", text: async () => "" };
    const { ask } = setUpRouter({ insight: insight({ calendar }), metrics });
    const { paths } = (await ask("GET /openapi.json")).body as Document;
    const answers = Object.entries(paths).flatMap(([path, { get }]) => {
      const { parameters = [] } = (get ?? { parameters: [] }) as {
        parameters?: readonly { name: string; in: string }[];
      };
      const known = parameters.find((one) => one.in === "query")?.name;
      const asked = `GET ${path.replaceAll(/\{\w+\}/g, "x")}`;
      return get === undefined ? [] : [{ asked, known, name: known === undefined ? "nonsense" : `${known}x` }];
    });
    expect(answers.length).toBeGreaterThan(25);
    for (const { asked, known, name } of answers) {
      const { status, body } = await ask(`${asked}?${name}=1`);
      const advice = known === undefined ? "this request takes none; leave it out" : `did you mean "${known}"?`;
      expect([asked, status, body]).toMatchObject([asked, 400, { code: "options" }]);
      expect((body as { issues: unknown[] }).issues.at(-1)).toMatchObject({ path: name });
      expect([asked, (body as { detail: string }).detail]).toEqual([asked, expect.stringContaining(advice)]);
    }
  });
});

function valueAt(value: unknown, [name, ...names]: readonly string[]): unknown {
  if (name === undefined) return value;
  return typeof value === "object" && value !== null ? valueAt(Reflect.get(value, name), names) : undefined;
}
