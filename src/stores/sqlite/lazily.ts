/** Texts that are made when they are first read, because most programs need a few of the statements alone. */
export function lazily<T extends object>(makers: { readonly [K in keyof T]: () => T[K] }): T {
  const texts = {};
  for (const [name, make] of Object.entries<() => unknown>(makers)) {
    Object.defineProperty(texts, name, {
      get(this: object): unknown {
        const value = make();
        Object.defineProperty(this, name, { value, enumerable: true });
        return value;
      },
      enumerable: true,
      configurable: true,
    });
  }
  return texts as T;
}

/** All texts of several objects, each still made when it is first read. No two objects may have a text of one name. */
export function joined<T extends object>(...parts: readonly object[]): T {
  const texts = {};
  for (const part of parts) {
    for (const [name, descriptor] of Object.entries(Object.getOwnPropertyDescriptors(part))) {
      if (Object.hasOwn(texts, name)) throw new Error(`two statements are named ${name}`);
      Object.defineProperty(texts, name, descriptor);
    }
  }
  return texts as T;
}
