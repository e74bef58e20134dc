/** The same, while it is being made. */
export type Mutable<T> = { -readonly [Name in keyof T]: T[Name] };
