import { describe, expect, test } from "vitest";
import * as errors from "../../src/core/errors.ts";

const plain = Object.entries(errors).filter(
  ([name]) => !["EscapementError", "CronSyntaxError"].includes(name),
) as unknown as [string, new (message: string, ...rest: unknown[]) => errors.EscapementError][];

describe("errors", () => {
  test.each(plain)("%s has its class's name, a code of its own and its message", (name, ErrorClass) => {
    const error = new ErrorClass("what happened", "some-id");
    expect(error).toBeInstanceOf(errors.EscapementError);
    expect(error).toBeInstanceOf(Error);
    expect([error.name, error.message]).toEqual([name, "what happened"]);
    // What a handler throws on purpose has a name that says what is to happen.
    expect(`${error.code[0]?.toUpperCase()}${error.code.slice(1)}`).toBe(name.replace(/Error$/, ""));
  });

  test("codes are unique", () => {
    const codes = plain.map(([, ErrorClass]) => new ErrorClass("").code);
    expect(new Set(codes).size).toBe(codes.length);
  });

  test("a cause is kept, and none is made up", () => {
    const cause = new Error("driver");
    expect(new errors.StoreUnavailableError("down", { cause }).cause).toBe(cause);
    expect("cause" in new errors.StoreUnavailableError("down", { cause: undefined })).toBe(false);
  });

  test("CronSyntaxError carries where the problem is", () => {
    const facts = { field: "hour", element: "25", position: 3, suggestion: "23" };
    expect(new errors.CronSyntaxError("no such hour", facts)).toMatchObject({ code: "cronSyntax", ...facts });
  });

  test("MaxIterationsReachedError carries the path from the trigger that was asked to the one that searched", () => {
    const cause = new Error("cause");
    const searched = new errors.MaxIterationsReachedError("no end", { cause });
    expect(searched).toMatchObject({ code: "maxIterationsReached", message: "no end", path: "", cause });
    const path = "triggers.1.trigger";
    expect(searched.within("trigger").within("triggers.1")).toMatchObject({
      name: "MaxIterationsReachedError",
      message: `trigger at ${path}: no end`,
      path,
      cause,
    });
  });
});
