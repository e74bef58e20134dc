import * as v from "valibot";
import { once } from "../../core/once.ts";
import { JOB_LOG_LEVELS, type JobLogRecord } from "../../records/job-log.ts";
import { instant, metadata, oneOf } from "./values.ts";

/** What `JobLog.toJSON()` made, as the record that it was made of. */
export const jobLogSchema: () => v.GenericSchema<unknown, JobLogRecord> = once(() =>
  v.object({
    attempt: v.number(),
    dropped: v.number(),
    lines: v.array(
      v.pipe(
        v.object({
          at: instant(),
          level: oneOf(JOB_LOG_LEVELS),
          message: v.string(),
          fields: v.nullable(metadata()),
        }),
        v.transform(({ fields, ...line }) => (fields === null ? line : { ...line, fields })),
      ),
    ),
  }),
);
