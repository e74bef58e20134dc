import * as devalue from "devalue";
import { describe, expect, test, vi } from "vitest";
import { DevalueSerializer, MemoryDataStore } from "../../src/mod.ts";
import { drain } from "../../src/testing/mod.ts";
import { setUp } from "../scheduler/support.ts";

const serializer = new DevalueSerializer(devalue);

class Money {
  readonly cents: bigint;
  constructor(cents: bigint) {
    this.cents = cents;
  }
}

describe("DevalueSerializer", () => {
  test("carries what JSON cannot", () => {
    const shared = { a: 1 };
    const value = {
      date: new Date(0),
      map: new Map([["k", new Set([1n])]]),
      missing: undefined,
      numbers: [Number.NaN, -0, Number.POSITIVE_INFINITY],
      pair: [shared, shared],
    };
    const copy = serializer.deserialize(serializer.serialize(value)) as typeof value;
    expect(copy).toEqual(value);
    expect(copy.pair[0]).toBe(copy.pair[1]);
  });

  test("carries types of the caller's own", () => {
    const own = new DevalueSerializer(devalue, {
      reducers: { Money: (value) => value instanceof Money && value.cents },
      revivers: { Money: (cents: bigint) => new Money(cents) },
    });
    expect(own.deserialize(own.serialize({ price: new Money(5n) }))).toEqual({ price: new Money(5n) });
  });

  test("refuses what it cannot carry, with the path", () => {
    expect(() => serializer.serialize({ a: [{ f: () => {} }] })).toThrow(
      expect.objectContaining({ code: "serialization" }),
    );
    expect(() => serializer.serialize({ a: [{ f: () => {} }] })).toThrow("a[0].f");
    expect(() => serializer.serialize(() => {})).toThrow("the top level");
  });

  test("names the class that it cannot carry, and says what to do", () => {
    expect(() => serializer.serialize({ price: new Money(5n) })).toThrow(
      "the value at price cannot be serialized: Cannot stringify arbitrary non-POJOs; it is of class Money: " +
        "pass its data, or give the DevalueSerializer reducers and revivers for the class",
    );
  });

  test("says that a Temporal object needs a Temporal that is global", () => {
    const read = (): unknown => {
      vi.stubGlobal("Temporal", undefined);
      Reflect.deleteProperty(globalThis, "Temporal");
      try {
        return serializer.deserialize('[["Temporal.Instant","1970-01-01T00:00:00Z"]]');
      } finally {
        vi.unstubAllGlobals();
      }
    };
    expect(read).toThrow(
      'the stored text has a Temporal object, and this runtime has no Temporal: import "temporal-polyfill/global"',
    );
  });

  test.each<[string, unknown, unknown, string]>([
    ["nothing", undefined, {}, 'takes the package devalue; got undefined: write import * as devalue from "devalue"'],
    ["one function of it", devalue.stringify, {}, "takes the package devalue; got the function stringify"],
    ["an unknown option", devalue, { reducer: {} }, 'reducer is no option; did you mean "reducers"?'],
    ["a reviver that is none", devalue, { revivers: { Money: 5 } }, "revivers.Money must be a function; got 5"],
  ])("refuses %s with what to do", (_, functions, options, message) => {
    const make = (): unknown => Reflect.construct(DevalueSerializer, [functions, options]);
    expect(make).toThrow(expect.objectContaining({ code: "options", message: expect.stringContaining(message) }));
  });

  test("is what a store advises whom it gets devalue itself from", () => {
    const make = (given: unknown): unknown => Reflect.construct(MemoryDataStore, [{ serializer: given }]);
    expect(() => make(devalue)).toThrow("write new DevalueSerializer(devalue)");
    expect(() => make(JSON)).toThrow("leave it out, because JSON is the default");
  });

  test("refuses text that it did not write", () => {
    for (const text of ["{", "[[9]]"]) {
      expect(() => serializer.deserialize(text)).toThrow(expect.objectContaining({ code: "deserialization" }));
    }
  });

  test("serves a store: payloads and results keep their types", async () => {
    const { scheduler } = setUp({ dataStore: new MemoryDataStore({ serializer }) });
    const task = scheduler.task("t", (days: Set<Date>) => new Map([...days].map((day) => [day.getTime(), day])));
    const { id } = await scheduler.addJob(task, { payload: new Set([new Date(0)]) });
    await drain(scheduler);
    expect((await scheduler.getJobResult(id))?.returnValue).toEqual(new Map([[0, new Date(0)]]));
  });
});
