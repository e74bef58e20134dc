import * as v from "valibot";
import { durationOf } from "../../core/duration.ts";
import { once } from "../../core/once.ts";
import { instantOf } from "../../core/temporal.ts";
import { STATS_FIELDS } from "../../records/fields/stats.ts";
import type { StatsFacts } from "../../records/stats.ts";
import { Stats, StatsBucket, type StatsReport } from "../../scheduler/views/stats.ts";
import { recordSchema } from "./fields.ts";
import { duration, instant, text } from "./values.ts";

/** What `Stats.toJSON()` made, as what it was made of. */
export const statsSchema: () => v.GenericSchema<unknown, StatsFacts> = once(() => recordSchema(STATS_FIELDS));

/** What the route `/stats` answers. */
export const statsReportSchema: () => v.GenericSchema<unknown, StatsReport> = once(() =>
  v.pipe(
    v.object({
      ...{ from: instant(), until: instant(), bucket: duration(), isKept: v.boolean() },
      items: v.array(
        v.object({
          id: v.nullable(text()),
          total: statsSchema(),
          buckets: v.array(v.intersect([statsSchema(), v.object({ from: instant() })])),
        }),
      ),
    }),
    v.transform(({ from, until, bucket, isKept, items }) => ({
      ...{ from: instantOf(from), until: instantOf(until), bucket: durationOf(bucket), isKept },
      items: items.map(({ id, total, buckets }) => ({
        ...{ id, total: new Stats(total) },
        buckets: buckets.map(({ from: at, ...facts }) => new StatsBucket(at, facts)),
      })),
    })),
  ),
);
