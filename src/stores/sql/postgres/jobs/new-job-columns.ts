import type { PostgresNames } from "../schema/names.ts";
import { keptJson } from "../sql-and-json.ts";

/** The columns of which `newJobRow` has the values. */
export const NEW_JOB_COLUMNS: string =
  "id, task_id, executor, schedule_id, fire_time, idempotency_key, priority, run_at, state, " +
  "fence, failed_attempts, recoveries, cancel_requested, details, start_deadline";

/** SQL of these values, of a row `v` in JSON. @param state SQL of the column `state` */
export function newJobValues(names: PostgresNames, state: string): string {
  return (
    "v->>0, v->>1, v->>2, v->>3, (v->>4)::bigint, v->>5, (v->>6)::double precision, (v->>7)::bigint, " +
    `${state}, (v->>9)::bigint, (v->>10)::bigint, (v->>11)::bigint, 0, ${keptJson(names, "v->>12")}, (v->>15)::bigint`
  );
}
