/** Lets Node, Bun and Deno print instances of a class as their JSON, since getters alone print nothing. */
export function printAsJSON<T extends { toJSON(): unknown }>(prototype: T): void {
  Object.defineProperty(prototype, Symbol.for("nodejs.util.inspect.custom"), {
    value(this: T): unknown {
      return this.toJSON();
    },
  });
}
