import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { JSONSerializer } from "../../src/mod.ts";

const json = new JSONSerializer();

describe("JSONSerializer", () => {
  test("carries every JSON value there and back", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const plain: unknown = JSON.parse(JSON.stringify(value));
        expect(json.deserialize(json.serialize(plain))).toEqual(plain);
      }),
    );
  });

  test("carries minus zero as zero, which a handler may return without a thought", () => {
    expect(json.deserialize(json.serialize({ balance: Math.round(-0.4) }))).toEqual({ balance: 0 });
    expect(json.deserialize(json.serialize([-0]))).toEqual([0]);
  });

  test("leaves out properties that are undefined", () => {
    expect(json.serialize({ a: undefined, b: 1 })).toBe('{"b":1}');
  });

  class Point {
    x = 1;
  }
  const cyclic: { self?: unknown } = {};
  cyclic.self = { inner: cyclic };

  test.each<[string, unknown, string]>([
    ["a date", { when: new Date(0) }, "class Date at when"],
    ["a map", [new Map()], "class Map at [0]"],
    ["a class instance", { a: [{ p: new Point() }] }, "class Point at a[0].p"],
    ["undefined", undefined, "undefined at the top level"],
    ["undefined in an array", { a: [1, undefined] }, "undefined at a[1]"],
    ["a hole in an array", Object.assign(new Array(3), { 0: 1, 2: 3 }), "undefined at [1]"],
    ["NaN", { n: Number.NaN }, "NaN at n"],
    ["infinity", [Number.NEGATIVE_INFINITY], "-Infinity at [0]"],
    ["a bigint", { big: 1n }, "bigint at big"],
    ["a function", { f: () => {} }, "function at f"],
    ["a symbol", { s: Symbol("s") }, "symbol at s"],
    ["a property whose key is a symbol", { a: { [Symbol("s")]: 1 } }, "key is a symbol at a"],
    ["a toJSON method", { toJSON: () => 1 }, "function at toJSON"],
    ["a cycle", cyclic, "cycle at self.inner"],
  ])("refuses %s and names the path", (_, value, text) => {
    expect(() => json.serialize(value)).toThrow(expect.objectContaining({ code: "serialization" }));
    expect(() => json.serialize(value)).toThrow(text);
  });

  test.each<[string, unknown, string]>([
    ["what devalue carries", new Date(0), "convert it, or give the data store a DevalueSerializer"],
    ["an instance of a class", new Point(), "pass its data, or give the data store a DevalueSerializer with reducers"],
    ["an error", new TypeError("no"), "pass its data, or give the data store a DevalueSerializer with reducers"],
    ["a function", () => {}, "leave it out, or pass data in its place"],
    ["a symbol", Symbol("s"), "leave it out, or pass data in its place"],
  ])("says of %s what to do", (_, value, advice) => {
    expect(() => json.serialize(value)).toThrow(advice);
  });

  test("refuses what cannot be read, such as a getter or a Proxy that throws", () => {
    const getter = {
      get at(): never {
        throw new Error("gone");
      },
    };
    const proxy = new Proxy({}, { getPrototypeOf: () => Promise.reject as never });
    const { proxy: revoked, revoke } = Proxy.revocable({}, {});
    revoke();
    for (const value of [getter, [getter], proxy, { revoked }]) {
      expect(() => json.serialize(value)).toThrow(expect.objectContaining({ code: "serialization" }));
    }
    expect(() => json.serialize(getter)).toThrow("a part of the value cannot be read: gone");
  });

  test("refuses what is nested too deep to be read, instead of overflowing the stack", () => {
    let deep: unknown = 1;
    for (let level = 0; level < 100_000; level++) deep = [deep];
    expect(() => json.serialize(deep)).toThrow(expect.objectContaining({ code: "serialization" }));
  });

  test("carries the same object twice, and objects without a prototype", () => {
    const shared = { a: 1 };
    expect(json.deserialize(json.serialize([shared, shared]))).toEqual([shared, shared]);
    expect(json.serialize(Object.assign(Object.create(null), { a: 1 }))).toBe('{"a":1}');
  });

  test("refuses text that is not JSON", () => {
    expect(() => json.deserialize("{a:1}")).toThrow(expect.objectContaining({ code: "deserialization" }));
  });
});
