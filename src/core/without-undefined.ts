/** An object whose fields that may be undefined may be absent instead. */
export type WithoutUndefined<T extends object> = { [Name in keyof T]?: Exclude<T[Name], undefined> } & {
  [Name in keyof T as undefined extends T[Name] ? never : Name]: T[Name];
};

/** The fields of an object that are not undefined, in their order. */
export function withoutUndefined<T extends object>(fields: T): WithoutUndefined<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as WithoutUndefined<T>;
}

/** Options after their check, when each that was left out has its default. */
export type Given<T> = { readonly [N in keyof T]-?: Exclude<T[N], undefined> };

/** Those of some fields of an object that are neither undefined nor null, which stands for undefined in what was
 *  stored. */
export function present<T extends object, Name extends keyof T>(
  fields: T,
  ...names: readonly Name[]
): WithoutUndefined<{ [N in Name]: Exclude<T[N], null> }> {
  const found: Partial<Record<Name, unknown>> = {};
  for (const name of names) if (fields[name] != null) found[name] = fields[name];
  return found as never;
}
