import { describe, expect, test } from "vitest";
import { TemporalMissingError } from "../../src/core/errors.ts";
import { Temporal } from "../../src/core/no-temporal.ts";

const native: unknown = Reflect.get(globalThis, "Temporal");

describe("escapement/no-temporal", () => {
  test("throws when a Temporal is asked for, and names the missing import", (context) => {
    if (native !== undefined) context.skip("this runtime has a Temporal");
    const use = (): unknown => Reflect.get(Temporal, "Instant");
    expect(use).toThrow(TemporalMissingError);
    expect(use).toThrow(/Temporal\.Instant is needed here, and the import "temporal-polyfill" is missing/);
    // Consoles ask for these.
    expect(Reflect.get(Temporal, Symbol.toStringTag)).toBe(undefined);
  });

  test("is the Temporal of the runtime where it has one", (context) => {
    if (native === undefined) context.skip("this runtime has no Temporal");
    expect(Temporal).toBe(native);
  });
});
