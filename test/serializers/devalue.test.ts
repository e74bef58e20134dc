import * as devalue from "devalue";
import { describe, expect, test } from "vitest";
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
