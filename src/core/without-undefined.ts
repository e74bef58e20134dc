/** An object whose fields that may be undefined may be absent instead. */
export type WithoutUndefined<T extends object> = { [Name in keyof T]?: Exclude<T[Name], undefined> } & {
  [Name in keyof T as undefined extends T[Name] ? never : Name]: T[Name];
};

/** The fields of an object that are not undefined, in their order. */
export function withoutUndefined<T extends object>(fields: T): WithoutUndefined<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as WithoutUndefined<T>;
}
