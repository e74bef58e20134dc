/** A trigger as JSON: a tag, the version of its form, and the tag's own fields. */
export interface TriggerJSON {
  readonly type: string;
  readonly version: number;
  readonly [field: string]: unknown;
}

/** The JSON without its undefined fields, so that equal rules have equal text. */
export function withoutUndefined(json: TriggerJSON): TriggerJSON {
  const { type, version, ...fields } = json;
  return { type, version, ...Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) };
}
