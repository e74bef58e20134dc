import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { denoManifest } from "../architecture/sources.ts";
import { runOk } from "../package/run.ts";
import { ROOT, tool } from "../package/stage.ts";
import { type DocumentedModules, type Exemptions, gapsOf } from "./documented.ts";

/** The fields that docs/concepts.md explains. */
const FIELDS = new Set(
  readFileSync(`${ROOT}/docs/concepts.md`, "utf8")
    .split("## Fields that mean the same everywhere")[1]
    ?.split("\n")
    .filter((line) => line.startsWith("| `"))
    .flatMap((line) => [...(line.split("|")[1] ?? "").matchAll(/`(\w+)`/g)].map(([, name = ""]) => name)),
);

/** Objects of others, of which these types name what the library calls. Their own documentation explains them. */
const SHAPES = new Set([
  ...["AlarmStorage", "ObjectContext", "D1Answer", "D1Binding", "D1Statement", "DurableObjectSqlStorage", "SqlResult"],
  ...["DevalueFunctions", "HttpRequest", "HttpResponse", "Logger", "LogTapeLike", "PinoLike", "StandardSchemaV1"],
  ...["IoredisClient", "MqttClient", "MqttSubscription", "NodeRedisClient", "PostgresClient"],
  ...["SqlStatement", "WebWorkerEvent", "WebWorkerLike"],
  // The table of docs/http.md, and the OpenAPI document.
  "Endpoints",
]);

const EXEMPTIONS: Exemptions = {
  fields: FIELDS,
  shapes: SHAPES,
  // The first repeats the methods of a client; between the others and their base stands a class that nobody sees.
  sameAs: { RemoteVerbs: "SchedulerClient", AndTrigger: "Trigger", OrTrigger: "Trigger" },
};

test("every public name says what it is, what its parameters mean, its errors, its defaults, and has an example", async () => {
  const doors = Object.values(denoManifest.exports);
  const text = await runOk([tool("deno"), "doc", "--json", ...doors], { cwd: ROOT });
  expect(gapsOf(JSON.parse(text), EXEMPTIONS, bodyAt)).toEqual([]);
});

/** A function ends with the first brace that stands as far to the right as the line on which it begins. */
function bodyAt({ filename, line }: { readonly filename: string; readonly line: number }): string {
  const lines = readFileSync(new URL(filename), "utf8").split("\n").slice(line);
  const indent = /^ */.exec(lines[0] ?? "")?.[0] ?? "";
  return lines.slice(0, lines.indexOf(`${indent}}`) + 1).join("\n");
}

describe("what a public name lacks", () => {
  const at = { filename: "file:///a.ts", line: 0 };
  const described = { doc: "Text.", tags: [{ kind: "example" }] };
  const word = { kind: "keyword" };
  const gapsIn = (symbols: DocumentedModules["nodes"][string]["symbols"], body = "") =>
    gapsOf(
      { nodes: { "a.ts": { module_doc: { doc: "A." }, symbols } } },
      { fields: new Set(["id"]), shapes: new Set(), sameAs: {} },
      () => body,
    );
  const one = (kind: string, jsDoc: object | undefined, def: object, name = "A") => [
    { name, declarations: [{ kind, location: at, jsDoc, def }] },
  ];

  test("is a description, an example, or a word on the module", () => {
    expect(gapsIn(one("function", undefined, {}))).toEqual(["A: no description", "A: no example"]);
    expect(gapsIn(one("class", { doc: "Text." }, {}))).toEqual(["A: no example"]);
    expect(gapsIn(one("interface", undefined, {}))).toEqual(["A: no description"]);
    expect(gapsIn(one("class", described, {}))).toEqual([]);
    const nodes = { "a.ts": { symbols: [] } };
    expect(gapsOf({ nodes }, EXEMPTIONS, () => "")).toEqual(["a.ts: no @module"]);
  });

  test("is the meaning of a parameter that is a plain value", () => {
    const params = [{ name: "count", tsType: word }, { name: "id", tsType: word }, { name: "options" }];
    expect(gapsIn(one("function", described, { params }))).toEqual(["A: nothing about `count`"]);
    expect(gapsIn(one("function", { ...described, doc: "At most `count`." }, { params }))).toEqual([]);
    const methods = [{ name: "b", jsDoc: { doc: "Text." }, functionDef: { params } }];
    expect(gapsIn(one("class", described, { methods }))).toEqual(["A.b: nothing about `count`"]);
  });

  test("is an error that it throws and does not name", () => {
    const body = "throw new OptionsError();";
    expect(gapsIn(one("function", described, {}), body)).toEqual(["A: throws OptionsError"]);
    const tags = [...described.tags, { kind: "throws", tsType: { repr: "OptionsError" } }];
    expect(gapsIn(one("function", { ...described, tags }, {}), body)).toEqual([]);
    const methods = [{ name: "b", jsDoc: { doc: "Text." }, location: at }];
    expect(gapsIn(one("class", described, { methods }), body)).toEqual(["A.b: throws OptionsError"]);
  });

  test("is a description of a member, unless the type has it, or one that it implements", () => {
    const properties = [{ name: "b" }, { name: "id" }, { name: "c", accessibility: "private" }];
    expect(gapsIn(one("interface", { doc: "Text." }, { properties }))).toEqual(["A.b: no description"]);
    expect(gapsIn(one("interface", { doc: "Has `b`." }, { properties }))).toEqual([]);
    const base = one("interface", { doc: "Text." }, { properties: [{ name: "b", jsDoc: { doc: "Text." } }] }, "Base");
    const above = { properties, implements: [{ repr: "[a.Base]" }] };
    expect(gapsIn([...base, ...one("class", described, above)])).toEqual([]);
  });

  test("is the default of an option", () => {
    const properties = (doc: string) => [{ name: "b", optional: true, jsDoc: { doc } }];
    const options = (doc: string) => one("interface", { doc: "Text." }, { properties: properties(doc) }, "AOptions");
    expect(gapsIn(options("Most."))).toEqual(["AOptions.b: no default"]);
    expect(gapsIn(options("Most. Default: 1."))).toEqual([]);
  });
});
