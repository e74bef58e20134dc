import fc from "fast-check";
import * as v from "valibot";
import { describe, expect, test } from "vitest";
import {
  anything,
  checker,
  durationMs,
  implementing,
  instantMs,
  objectOf,
  oneOf,
  textUpTo,
  trueOrFalse,
  wholeNumber,
} from "../../src/core/check.ts";
import { OptionsError } from "../../src/core/errors.ts";
import { optionsError, shown } from "../../src/core/option-errors.ts";
import { editDistance, nearest } from "../../src/core/suggest.ts";

const schema = objectOf({
  data: anything,
  name: v.optional(textUpTo(8)),
  count: v.optional(wholeNumber(1, 9), 3),
  step: v.optional(wholeNumber()),
  isOpen: v.optional(trueOrFalse, false),
  mode: v.optional(oneOf(["fast", "exact"]), "fast"),
  pause: v.optional(v.nullable(durationMs(1)), { seconds: 2 }),
  at: v.optional(instantMs),
  inner: v.optional(objectOf({ depth: v.optional(wholeNumber(0), 1), graceTime: v.optional(durationMs()) }), {}),
  list: v.optional(v.record(textUpTo(3), implementing<{ run(): void }>("a Runner", ["run"]))),
});
const check = checker(schema);

test("a name that every object inherits is no other word for an option", () => {
  const withHints = checker(schema, { synonyms: { size: "count" } });
  for (const name of ["__proto__", "constructor"]) {
    expect(() => withHints(JSON.parse(`{"${name}":1}`), "call()")).toThrow(
      expect.objectContaining({ message: expect.not.stringContaining("did you mean") }),
    );
  }
});

function refusalOf(value: unknown): OptionsError {
  try {
    check(value, "call()");
  } catch (error) {
    if (error instanceof OptionsError) return error;
    throw error;
  }
  return expect.unreachable("nothing was refused");
}

describe("a checker", () => {
  test("adds the defaults of the schema, at every depth", () => {
    expect(check({ data: null, inner: {} }, "call()")).toEqual({
      data: null,
      count: 3,
      isOpen: false,
      mode: "fast",
      pauseMs: 2000,
      inner: { depth: 1 },
    });
  });

  test("names durations with their unit, at every depth", () => {
    const expected = { pauseMs: 1000, inner: { depth: 1, graceMs: 60_000 } };
    expect(check({ data: 1, pause: "1s", inner: { graceTime: "1m" } }, "call()")).toMatchObject(expected);
    const partly = checker(v.partial(objectOf({ inner: schema.entries.inner })));
    expect(partly({ inner: { graceTime: "1m" } }, "call()")).toEqual({ inner: expected.inner });
  });

  test("takes null where it means something, and undefined for what is not given", () => {
    expect(check({ data: 1, pause: null, count: undefined, at: undefined }, "call()")).toMatchObject({
      pauseMs: null,
      count: 3,
      at: undefined,
    });
  });

  test("leaves the caller's object as it is, and answers anew each time", () => {
    const given = Object.freeze({ data: 1, pause: "PT1S" });
    expect(check(given, "call()")).toEqual(check(given, "call()"));
    expect(check(given, "call()")).not.toBe(check(given, "call()"));
    expect(given).toEqual({ data: 1, pause: "PT1S" });
  });

  test("makes minus zero zero, in options that are given and within them", () => {
    expect(Object.is(check({ data: 1, step: -0 }, "call()").step, 0)).toBe(true);
    expect(Object.is(check({ data: 1, inner: { depth: -0 } }, "call()").inner.depth, 0)).toBe(true);
  });

  test("names the option that throws where it is read", () => {
    const thrower = (): never => {
      throw new Error("gone");
    };
    const proxy = (trap: string): object => new Proxy({}, { [trap]: thrower });
    const { proxy: revoked, revoke } = Proxy.revocable({}, {});
    revoke();
    class Settings {
      data = 1;
      get count(): number {
        return thrower();
      }
    }
    const cases: [unknown, string][] = [
      [Object.defineProperty({ data: 1 }, "step", { enumerable: true, get: thrower }), "step"],
      [{ data: 1, inner: Object.defineProperty({}, "depth", { enumerable: true, get: thrower }) }, "inner.depth"],
      [{ data: 1, inner: proxy("ownKeys") }, "inner"],
      [{ data: 1, pause: proxy("getPrototypeOf") }, "pause"],
      [{ data: 1, at: revoked }, "at"],
      [new Settings(), "count"],
      [proxy("ownKeys"), ""],
      [proxy("getPrototypeOf"), ""],
      [revoked, ""],
    ];
    for (const [value, path] of cases) {
      const { issues, message } = refusalOf(value);
      expect(issues.map((issue) => issue.path)).toEqual([path]);
      expect(message).toMatch(/^call\(\):? .*(cannot be read|got an object)/);
    }
  });

  test("answers what the schema of the whole object answers, for all objects", () => {
    const item = fc.oneof(
      fc.constantFrom<unknown>(undefined, null, "fast", "PT5S", "2030-01-01T00:00:00Z", true, Number.NaN, {}, []),
      fc.integer({ min: -2, max: 12 }),
      fc.date(),
      fc.string({ maxLength: 10 }),
    );
    const names = fc.constantFrom("data", "name", "count", "step", "isOpen", "mode", "pause", "at", "inner", "other");
    fc.assert(
      fc.property(fc.dictionary(names, item), (value) => {
        const whole = v.safeParse(schema, value);
        if (whole.success) expect(check(value, "call()")).toEqual(whole.output);
        else expect(refusalOf(value).code).toBe("options");
      }),
    );
  });

  test("reads an instance of a class that has one of the options", () => {
    class Settings {
      data = 1;
      get count(): number {
        return 5;
      }
    }
    expect(check(new Settings(), "call()")).toMatchObject({ data: 1, count: 5 });
  });

  test.each<[unknown, string]>([
    [new Map([["data", 1]]), "call() takes an object of options; got a Map"],
    [new Date(0), "call() takes an object of options; got the Date 1970-01-01T00:00:00.000Z"],
    [[], "call() takes an object of options; got a list of 0"],
    [() => {}, "call() takes an object of options; got a function"],
    [undefined, "call() takes an object of options; got undefined"],
    [Promise.resolve({}), "call() takes an object of options; got a Promise: await it first"],
  ])("refuses %o as options", (value, message) => {
    expect(refusalOf(value).message).toBe(message);
  });

  test("tells every problem with its path, each value once, and the name that was meant", () => {
    const error = refusalOf({ data: 1, count: 0.5, inner: { dept: 1, depth: -1 }, nmae: "x", "a.b": 1 });
    expect(error.issues).toEqual([
      { path: "count", message: "must be a whole number from 1 to 9; got 0.5" },
      { path: "inner.depth", message: "must be a whole number of 0 or more; got -1" },
      { path: "inner.dept", message: 'is no option; did you mean "depth"?', suggestion: "depth" },
      { path: "nmae", message: 'is no option; did you mean "name"?', suggestion: "name" },
      {
        path: "a.b",
        message: "is no option; the options are data, name, count, step, isOpen, mode, pause, at, inner and list",
      },
    ]);
    expect(error.message).toBe(
      ["call(): 5 problems", ...error.issues.map(({ path, message }) => `${path} ${message}`)].join("\n- "),
    );
  });

  test("says what is missing, and which methods an object lacks", () => {
    const error = refusalOf({ list: { a: { walk() {} } } });
    expect(error.issues).toEqual([
      { path: "data", message: "is missing" },
      { path: "list.a", message: "must be a Runner; got { walk: the function walk }: it lacks run()" },
    ]);
  });
});

describe("a value in a message", () => {
  class Box {
    secret = "s3cret";
  }
  test.each<[unknown, string, string]>([
    ["text", "", '"text"'],
    ["x".repeat(100), "", `"${"x".repeat(80)}…"`],
    ["line\nbreak", "", '"line\\nbreak"'],
    ["https://user:pass@host/x?token=abc", "", '"https://…@host/x?…"'],
    ["redis://user:pa/ss@1@host", "", '"redis://…@host"'],
    ["user:pa/ss@host:6379", "", '"…@host:6379"'],
    ["ada@example.org", "", '"ada@example.org"'],
    ["eyJhbGciOiJIUzI1NiJ9.e30.c2ln", "", "text that is not shown"],
    ["Bearer abc", "", "text that is not shown"],
    ["abc", "authToken", "text that is not shown"],
    [5, "taskDefaults.encryptionKey", "a value that is not shown"],
    [undefined, "authToken", "undefined"],
    ["k", "idempotencyKey", '"k"'],
    [10n ** 100n, "", `1${"0".repeat(79)}…`],
    [Symbol("s"), "", "a symbol"],
    [Box, "", "the class Box"],
    [new Box(), "", "a Box"],
    [new Date(Number.NaN), "", "an invalid Date"],
    [
      { password: "p", url: "https://h?k=v", n: [1], o: {} },
      "",
      '{ password: text that is not shown, url: "https://h?…", n: […], o: {…} }',
    ],
    [{ a: 1, b: 2, c: 3, d: 4, e: 5, f: 6 }, "", "{ a: 1, b: 2, c: 3, d: 4, e: 5, … }"],
    [Object.create(null), "", "{}"],
  ])("%o, named %j, is shown as %j", (value, name, text) => {
    expect(shown(value, name)).toBe(text);
  });

  test("that cannot be read is named as such", () => {
    const get = (): never => {
      throw new Error("no");
    };
    expect(shown(Object.defineProperty({}, "bad", { enumerable: true, get }))).toBe("an object that cannot be read");
  });

  test("never throws, and stays short", () => {
    fc.assert(
      fc.property(
        fc.anything({ withBigInt: true, withDate: true, withMap: true, withNullPrototype: true }),
        (value) => {
          expect(shown(value).length).toBeLessThan(1500);
        },
      ),
    );
  });
});

test("lists 50 problems at most, at once, however many there are", () => {
  const many = checker(v.strictObject({ list: v.array(v.string()) }));
  const wrong = { list: new Array(100_000).fill(1) };
  const names = Object.fromEntries(Array.from({ length: 100_000 }, (_, index) => [`name${index}`, 1]));
  for (const value of [wrong, { list: [], ...names }]) {
    let error: unknown;
    try {
      many(value, "call()");
    } catch (thrown) {
      error = thrown;
    }
    expect((error as OptionsError).issues).toHaveLength(50);
    expect(error).toMatchObject({ message: expect.stringMatching(/^call\(\): at least 50 problems\n/) });
  }
});

test("the error of one problem of the whole goes on after the call", () => {
  const error = optionsError("call()", [{ path: "", message: "takes nothing" }]);
  expect(error).toMatchObject({ message: "call() takes nothing", issues: [{ path: "", message: "takes nothing" }] });
});

describe("suggestions", () => {
  test.each([
    ["tiemZone", "timeZone"],
    ["time_zone", "timeZone"],
    ["zebra", null],
    ["x".repeat(25), null],
    ["", null],
  ])("for %j it is %j", (word, suggestion) => {
    expect(nearest(word, ["timeZone", "startTime"])).toBe(suggestion);
  });

  test("a distance counts insertions, deletions, substitutions and swapped neighbours", () => {
    expect(editDistance("berlim", "berlin")).toBe(1);
    expect(editDistance("ebrlin", "berlin")).toBe(1);
    expect(editDistance("brlin", "berlin")).toBe(1);
    expect(editDistance("", "abc")).toBe(3);
  });
});
