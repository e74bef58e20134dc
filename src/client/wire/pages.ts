import * as v from "valibot";
import type { Page } from "../../scheduler/views/page.ts";

/** A page of what a schema reads. */
export function pageSchema<T>(item: v.GenericSchema<unknown, T>): v.GenericSchema<unknown, Page<T>> {
  const count = v.object({ count: v.number(), isCapped: v.boolean() });
  return v.object({
    ...{ items: v.array(item), cursor: v.nullable(v.string()) },
    ...{ total: v.exactOptional(count), facets: v.exactOptional(v.record(v.string(), count)) },
  });
}
