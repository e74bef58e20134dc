import * as v from "valibot";
import type { Page } from "../../scheduler/views/page.ts";

/** A page of what a schema reads. */
export function pageSchema<T>(item: v.GenericSchema<unknown, T>): v.GenericSchema<unknown, Page<T>> {
  return v.object({ items: v.array(item), cursor: v.nullable(v.string()) });
}
