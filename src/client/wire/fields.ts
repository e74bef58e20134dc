import * as v from "valibot";
import {
  type Field,
  type Fields,
  isNullable,
  isWord,
  type Kinds,
  type PlainKinds,
  type RecordOf,
  recordName,
  WORDS,
} from "../../records/fields/field.ts";
import { ATTEMPT_FIELDS } from "../../records/fields/job.ts";
import {
  duration,
  error,
  flag,
  instant,
  labels,
  metadata,
  number,
  oneOf,
  orNull,
  text,
  value,
  type WireSchema,
} from "./values.ts";

/** What a view's `toJSON()` made of these fields, as the record that they describe. */
export function recordSchema<Rows extends Fields>(fields: Rows): v.GenericSchema<unknown, RecordOf<Rows>> {
  const rows = Object.entries<Field>(fields);
  return v.pipe(
    v.object(Object.fromEntries(rows.map(([name, field]) => [name, schemaOf(field)]))),
    v.transform((wire) => {
      const record: Record<string, unknown> = {};
      for (const [name, field] of rows) {
        const read = wire[name] ?? null;
        if (read !== null || field.absent === undefined) record[recordName(name, field)] = read;
      }
      return record as RecordOf<Rows>;
    }),
  );
}

function schemaOf(field: Field): WireSchema<unknown> {
  const schema = field.kind === "object" ? recordSchema(field.fields) : schemaOfKind(field.kind);
  return isNullable(field) ? orNull(schema) : schema;
}

function schemaOfKind(kind: keyof Kinds): WireSchema<unknown> {
  return isWord(kind) ? oneOf(WORDS[kind]) : PLAIN[kind]();
}

const PLAIN: Readonly<Record<keyof PlainKinds, () => WireSchema<unknown>>> = {
  ...{ text, flag, number, instant, duration, metadata, labels, value, error },
  ...{ whole: number, count: number },
  texts: () => v.array(text()),
  attempts: () => v.array(recordSchema(ATTEMPT_FIELDS)),
  trigger: () => v.pipe(v.unknown(), v.transform(JSON.stringify)),
};
