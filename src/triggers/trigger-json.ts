/** A trigger as JSON: a tag, the version of its form, and the tag's own fields. */
export interface TriggerJSON {
  readonly type: string;
  /** The version of the type's form; 1 for those of this library. */
  readonly version: number;
  readonly [field: string]: unknown;
}
