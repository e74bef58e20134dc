import type { Temporal } from "../../core/temporal.ts";
import type { Trigger } from "../../triggers/trigger.ts";
import type { TriggerJSON } from "../../triggers/trigger-json.ts";
import type { Page } from "./page.ts";

/**
 * What a record of a scheduler is on its way out of its process: the same fields as plain values, because neither a
 * remote call nor JSON carries classes. Instants and durations are ISO 8601 text, triggers are their JSON, and methods
 * are missing. A payload or a value that cannot be read is a text that says so.
 */
export type Plain<T> = {
  readonly [Name in keyof T as T[Name] extends (...given: never[]) => unknown ? never : Name]: PlainValue<T[Name]>;
};

type PlainValue<T> = unknown extends T
  ? RemoteValue
  : T extends Temporal.Instant | Temporal.Duration | Temporal.ZonedDateTime | Temporal.PlainDateTime
    ? string
    : T extends Trigger
      ? Plain<TriggerJSON>
      : T extends readonly (infer Item)[]
        ? PlainValue<Item>[]
        : T extends object
          ? Plain<T>
          : T;

/** A payload, a returned value or metadata. It is spelled out because Cloudflare's types turn the answer of a remote
 *  call that has an `unknown` in it into `never`. */
export type RemoteValue = string | number | boolean | bigint | object | null | undefined;

/** A page of plain records. */
export type PlainPage<T> = Page<Plain<T>>;

/** The plain record of a view. */
export function plain<T extends { toJSON(): Record<string, unknown> }>(view: T): Plain<T> {
  // A view's JSON has the view's own fields.
  return view.toJSON() as Plain<T>;
}

export function plainPage<T extends { toJSON(): Record<string, unknown> }>(page: Page<T>): PlainPage<T> {
  return { ...page, items: page.items.map(plain) };
}
