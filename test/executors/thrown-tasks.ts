import { defineTasks } from "../../src/scheduler/tasks/defined-tasks.ts";

function gate(get: () => never): PropertyDescriptor {
  return { get, enumerable: true };
}

/** What handlers may throw, by task. */
export const THROWN: Readonly<Record<string, () => unknown>> = {
  "an object with a message and a code": () => ({ message: "out of stock", code: "E_STOCK", status: 503 }),
  "an object with a number as its code": () => ({ message: "no", code: 42 }),
  "an object without a message": () => ({ why: "x" }),
  "a list": () => [1, { a: 2 }],
  "a text": () => "out of stock",
  "a number": () => 7,
  undefined: () => undefined,
  null: () => null,
  "a symbol": () => Symbol("s"),
  "an error with properties": () =>
    Object.assign(new TypeError("no"), {
      code: "E_NO",
      list: [1, { a: null }],
      big: "x".repeat(5000),
      at: new Date(0),
    }),
  "an error with a property in which a getter throws": () =>
    Object.assign(new Error("no"), {
      status: 503,
      request: {
        get body(): never {
          throw new Error("gone");
        },
      },
    }),
  "an error of another realm": () => Object.assign(Object.create({ name: "RangeError" }), { message: "far", at: 5 }),
  "an AggregateError": () =>
    new AggregateError([new RangeError("one"), "two"], "both", { cause: Object.assign(new Error("why"), { n: 1 }) }),
  "lists of more errors than are kept": () => {
    const list = (name: string): Error => new AggregateError(Array<string>(20).fill("one of twenty"), name);
    return new AggregateError(["first", "second", "third"].map(list), "lists");
  },
  "an error whose getters throw": () => {
    const refuse = (): never => {
      throw new Error("trap");
    };
    const error = Object.assign(new TypeError("kept"), { inner: Object.defineProperty({}, "x", gate(refuse)), at: 5 });
    for (const key of ["stack", "name", "code", "cause", "errors"]) Object.defineProperty(error, key, gate(refuse));
    return error;
  },
  "an error whose name is a symbol": () => Object.assign(new Error("kept"), { name: Symbol("n"), at: 5 }),
  "a proxy that throws": () =>
    new Proxy(new Error("h"), {
      get: () => {
        throw new Error("trap");
      },
    }),
};

export const tasks: object = defineTasks(
  Object.fromEntries(
    Object.entries(THROWN).map(([name, make]) => [
      name,
      {
        handler: () => {
          throw make();
        },
      },
    ]),
  ),
);
