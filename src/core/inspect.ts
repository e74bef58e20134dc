const INSPECT = Symbol.for("nodejs.util.inspect.custom");

/** Lets Node, Bun and Deno print an object as what a function returns. The object is otherwise as it was. */
export function printedAs<T extends object>(object: T, print: () => unknown): T {
  return Object.defineProperty(object, INSPECT, { value: print });
}

/** Lets Node, Bun and Deno print instances of a class as their JSON, because an object that has only getters would be
 *  printed as empty. */
export function printAsJSON<T extends { toJSON(): unknown }>(prototype: T): void {
  Object.defineProperty(prototype, INSPECT, {
    value(this: T): unknown {
      return this.toJSON();
    },
  });
}

/** Lets them print instances of a class as plain objects with the same fields, without the name of the class. */
export function printAsFields(prototype: object): void {
  Object.defineProperty(prototype, INSPECT, {
    value(this: object): unknown {
      return { ...this };
    },
  });
}

/** What `read` returns, for printing. When `read` throws, an object that says why, so that one bad record does not
 *  spoil a list. */
export function readable(read: () => unknown): unknown {
  try {
    return read();
  } catch (error) {
    return { unreadable: error instanceof Error ? error.message : String(error) };
  }
}
