/** A trigger as JSON: a tag, the version of its form, and the tag's own fields. */
export interface TriggerJSON {
  readonly type: string;
  readonly version: number;
  readonly [field: string]: unknown;
}
