import type * as v from "valibot";
import { once } from "../../core/once.ts";
import type { BlackoutRecord } from "../../records/blackout.ts";
import { BLACKOUT_FIELDS } from "../../records/fields/blackout.ts";
import { recordSchema } from "./fields.ts";

/** What `Blackout.toJSON()` made, as the record that it was made of. */
export const blackoutSchema: () => v.GenericSchema<unknown, BlackoutRecord> = once(
  () => recordSchema(BLACKOUT_FIELDS) as unknown as v.GenericSchema<unknown, BlackoutRecord>,
);
