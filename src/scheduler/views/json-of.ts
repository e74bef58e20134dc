import { durationTextOrNull } from "../../core/duration.ts";
import { readable } from "../../core/inspect.ts";
import { instantTextOrNull, type Temporal } from "../../core/temporal.ts";
import { type Field, type Fields, type Kinds, recordName } from "../../records/fields/field.ts";
import type { Trigger } from "../../triggers/trigger.ts";

/** A view as JSON. Instants and durations are made of its record, because objects of Temporal cost more. */
export function jsonOf<View extends object>(
  fields: FieldsOf<View>,
  view: View,
  record: object,
): Record<string, unknown> {
  return plainOf(fields as Fields, view, record);
}

function plainOf(fields: Fields, view: object, record: object): Record<string, unknown> {
  const plain: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(fields)) {
    plain[name] = plainField(field, Reflect.get(record, recordName(name, field)) ?? null, () =>
      Reflect.get(view, name),
    );
  }
  return plain;
}

/** @param kept what the record has, or null @param shown what the view has */
function plainField(field: Field, kept: unknown, shown: () => unknown): unknown {
  switch (field.kind) {
    case "instant":
      return instantTextOrNull(kept as number | null);
    case "duration":
      return durationTextOrNull(kept as number | null);
    case "object":
      return kept === null ? null : plainOf(field.fields, kept as object, kept as object);
    case "trigger":
      return readable(() => JSON.parse(kept as string));
    case "value":
      return readable(shown);
    default:
      return shown();
  }
}

/** One row for each property of a view, of the kind that it has. */
type FieldsOf<View> = {
  readonly [N in keyof View as View[N] extends (...given: never[]) => unknown ? never : N]: FieldOf<View[N]>;
};

type FieldOf<T> = unknown extends T
  ? { readonly kind: "value" }
  : KindOf<NonNullable<T>> &
      (null extends T ? { readonly null: string } | { readonly absent: string } : { readonly null?: never });

type KindOf<T> = [T] extends [Temporal.Instant]
  ? { readonly kind: "instant" }
  : [T] extends [Temporal.Duration]
    ? { readonly kind: "duration" }
    : [T] extends [Trigger]
      ? { readonly kind: "trigger" }
      : [PlainKind<T>] extends [never]
        ? { readonly kind: "object"; readonly fields: FieldsOf<T> }
        : { readonly kind: PlainKind<T> };

/** The kind whose values are the same in a record. */
type PlainKind<T> = {
  [K in keyof Kinds]: [T, Kinds[K]] extends [Kinds[K], T] ? K : never;
}[Exclude<keyof Kinds, "instant" | "duration" | "value" | "trigger" | "error" | "attempts">];
