/** Lets Node, Bun and Deno print instances of a class as their JSON, since getters alone print nothing. */
export function printAsJSON<T extends { toJSON(): unknown }>(prototype: T): void {
  Object.defineProperty(prototype, Symbol.for("nodejs.util.inspect.custom"), {
    value(this: T): unknown {
      return this.toJSON();
    },
  });
}

/** A part of what is printed that may be unreadable: then, why, so that one bad record does not spoil a listing. */
export function readable(read: () => unknown): unknown {
  try {
    return read();
  } catch (error) {
    return { unreadable: error instanceof Error ? error.message : String(error) };
  }
}
