import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, test } from "vitest";
import { OptionsError } from "../../src/core/errors.ts";
import { D1DataStore } from "../../src/stores/d1/mod.ts";
import { DurableObjectDataStore } from "../../src/stores/durable-object/mod.ts";

const stub = env.SQL_OBJECT.get(env.SQL_OBJECT.idFromName("options"));
const keyValueStub = env.KEY_VALUE_OBJECT.get(env.KEY_VALUE_OBJECT.idFromName("options"));

/** The message of the error with which a class refuses its arguments. */
function refusal(make: new (...args: never[]) => object, ...args: unknown[]): string {
  try {
    Reflect.construct(make, args);
  } catch (error) {
    if (error instanceof OptionsError) return error.message;
    throw error;
  }
  return "nothing was refused";
}

describe("D1DataStore refuses what is no binding of D1:", () => {
  const takes = "new D1DataStore(binding) takes a binding of D1; got ";
  const cases: [string, () => unknown, string][] = [
    ["nothing", () => undefined, "undefined: is its name under d1_databases of the Worker's configuration?"],
    ["a name", () => "DB", '"DB": pass the binding of that name, such as env.DB'],
    [
      "a session",
      () => env.DB.withSession("first-primary"),
      "a D1DatabaseSession: pass the binding itself, because a session may read from a copy that is behind",
    ],
    ["a stub", () => stub, "a DurableObject: it is a stub, which calls another Worker or object"],
    ["a libSQL client", () => ({ execute() {}, batch() {} }), "a libSQL client there is LibsqlDataStore({ client })"],
    ["the whole env", () => ({ DB: env.DB }), "{ DB: a D1Database }"],
  ];
  for (const [name, value, expected] of cases) {
    test(name, () => {
      const message = refusal(D1DataStore, value());
      expect([message.startsWith(takes), message.endsWith(expected)], message).toEqual([true, true]);
    });
  }

  test("the storage of an object", () =>
    runInDurableObject(stub, (_, { storage }) => {
      expect(refusal(D1DataStore, storage)).toBe(
        `${takes}a DurableObjectStorage: for the storage of a Durable Object there is DurableObjectDataStore of ` +
          "escapement/durable-object",
      );
    }));
});

describe("DurableObjectDataStore refuses what is no storage of an object with SQLite:", () => {
  const takes =
    "new DurableObjectDataStore(storage) takes the storage of a Durable Object (ctx.storage) whose class keeps " +
    "SQLite; got ";
  const cases: [string, () => unknown, string][] = [
    ["nothing", () => undefined, "undefined: write new DurableObjectDataStore(ctx.storage)"],
    [
      "a namespace",
      () => env.SQL_OBJECT,
      "a DurableObjectNamespace: the storage is there only within the object, as ctx.storage",
    ],
    ["a stub", () => stub, "a DurableObject: it is a stub, which calls another Worker or object"],
    ["a binding of D1", () => env.DB, "a D1Database: for D1 there is D1DataStore of escapement/d1"],
  ];
  for (const [name, value, expected] of cases) {
    test(name, () => expect(refusal(DurableObjectDataStore, value())).toBe(takes + expected));
  }

  test("the state, or the SQL alone, of an object", () =>
    runInDurableObject(stub, (_, state) => {
      expect(refusal(DurableObjectDataStore, state)).toBe(`${takes}a DurableObjectState: write ctx.storage`);
      expect(refusal(DurableObjectDataStore, state.storage.sql)).toBe(
        `${takes}a SqlStorage: write ctx.storage, because transactions belong to it`,
      );
    }));

  test("the storage of an object whose class keeps no SQLite", () =>
    runInDurableObject(keyValueStub, (_, { storage }) => {
      expect(refusal(DurableObjectDataStore, storage)).toBe(
        `${takes}a DurableObjectStorage: name the class under new_sqlite_classes in the migrations of the Worker's ` +
          "configuration",
      );
    }));
});

describe("both check their options:", () => {
  test("what is unknown, and where it is", () => {
    expect(refusal(D1DataStore, env.DB, { prefix: "x" })).toBe(
      'new D1DataStore(binding, options): prefix is no option; did you mean "tablePrefix"?',
    );
    expect(refusal(D1DataStore, env.DB, { timeout: { seconds: 0 } })).toMatch(
      /timeout must be a duration longer than zero; got /,
    );
  });

  test("a prefix that Cloudflare keeps for itself", () =>
    runInDurableObject(stub, (_, { storage }) => {
      const expected =
        "tablePrefix must be another prefix, because tables whose names begin with _cf_ are Cloudflare's";
      expect(refusal(D1DataStore, env.DB, { tablePrefix: "_CF_jobs_" })).toContain(expected);
      expect(refusal(DurableObjectDataStore, storage, { tablePrefix: "_cf_" })).toContain(expected);
    }));

  test("who may write to the data", () =>
    runInDurableObject(stub, (_, { storage }) => {
      expect(new D1DataStore(env.DB).capabilities).toEqual({ sharedByProcesses: true });
      expect(new DurableObjectDataStore(storage).capabilities).toEqual({ sharedByProcesses: false });
    }));
});
