import {
  NEUTRAL_OUTCOMES,
  NOTICE_STARTS_WITHIN_MS,
  NOTICE_TASK_PREFIX,
  NOTICE_TASKS_END,
} from "../../../../records/notice.ts";
import { CANCEL_CHANNEL } from "../../../postgres/driver/ear.ts";
import { literal } from "../../../postgres/driver/literals.ts";
import { ENCODED_SQL, ESCAPES_SQL, STAND_IN, TWICE } from "../../../postgres/driver/stand-ins.ts";
import { NO_VERSION } from "../../../shared/declarations.ts";
import { CLOCK_TOLERANCE_MS } from "../../../shared/limits.ts";
import { JOB_STATE, LABELLED, REMOVED } from "../../schema/tables.ts";
import { storedRuns } from "../history/history-writes.ts";
import { storedCounts } from "../history/stats.ts";
import { storedAcquisitions } from "../jobs/acquisition.ts";
import { storedInsertions, storedStamps } from "../jobs/additions.ts";
import { NEW_JOB_COLUMNS, newJobValues } from "../jobs/new-job-columns.ts";
import { storedReleases } from "../jobs/releases.ts";
import { storedLooks } from "../look/look-for-work.ts";
import { storedPlans } from "../schedules/plan-commits.ts";
import type { PostgresNames } from "./names.ts";
import { PLPGSQL, type Stored } from "./stored.ts";

const { delayed, ready, dependent } = JOB_STATE;

/** What is done row by row, because a later row has to see what an earlier one wrote; and what triggers do. */
export function functions(names: PostgresNames): string[] {
  return [
    guard(names),
    merged(names),
    textOf(names),
    ...standIns(names),
    putTasks(names),
    openWindows(names),
    insertWindowedJobs(names),
    ...labels(names),
    ...logs(names),
    ...cancels(names),
    ...notices(names),
    ...storedStatements(names).map(({ create }) => create),
  ];
}

/** The statements that the database plans once for a connection: what looks, commits and additions send most. */
function storedStatements(names: PostgresNames): Stored[] {
  const { readyDue, acquire, hasReady, acquired } = storedAcquisitions(names);
  const { nextRunAt, pauseEnds, ...looks } = storedLooks(names);
  const insertions = [true, false].flatMap((hasKeys) => {
    const { jobs, stampedJobs, alikeJobs, stampedAlikeJobs } = storedInsertions(names, hasKeys);
    return [jobs, stampedJobs, alikeJobs, stampedAlikeJobs];
  });
  return [
    ...[readyDue, acquired, ...Object.values(acquire), ...Object.values(hasReady)],
    ...[nextRunAt, pauseEnds, looks].flatMap((parts) => Object.values<Stored>(parts)),
    ...insertions,
    ...Object.values(storedReleases(names)),
    ...Object.values(storedPlans(names)),
    ...[storedStamps(names), storedCounts(names), storedRuns(names)],
  ];
}

/** How functions begin that are one expression. Its names are looked up when the function is made, and it needs no
 *  setting, which would keep it from becoming a part of the statements that call it. */
const EXPRESSION = "LANGUAGE sql IMMUTABLE RETURN";

/** Tells the processes that listen of each job that somebody asked to cancel. */
function cancels({ inSchema, jobs }: PostgresNames): string[] {
  return [
    `CREATE OR REPLACE FUNCTION ${inSchema}tell_cancel() RETURNS trigger ${PLPGSQL} AS $$ BEGIN ` +
      `PERFORM pg_notify('${CANCEL_CHANNEL}', TG_TABLE_SCHEMA || ' ' || NEW.id); RETURN NULL; END $$`,
    `CREATE TRIGGER cancels AFTER UPDATE OF cancel_requested ON ${jobs} FOR EACH ROW ` +
      `WHEN (OLD.cancel_requested < NEW.cancel_requested) EXECUTE FUNCTION ${inSchema}tell_cancel()`,
  ];
}

function guard({ inSchema }: PostgresNames): string {
  return (
    `CREATE OR REPLACE FUNCTION ${inSchema}guard(holds boolean, message text) RETURNS integer ${PLPGSQL} ` +
    `AS $$ BEGIN ` +
    "IF holds THEN RETURN 1; END IF; RAISE EXCEPTION USING MESSAGE = message; END $$"
  );
}

/** A JSON object with the members of another one, of which those that are null remove members. No text is decoded,
 *  because a payload may have what no text of PostgreSQL can hold. */
function merged({ inSchema }: PostgresNames): string {
  return `CREATE OR REPLACE FUNCTION ${inSchema}merged(base json, patch json) RETURNS json ${EXPRESSION} (
    SELECT ('{' || coalesce(string_agg(to_json(m.key)::text || ':' || m.value::text, ',' ORDER BY m.place), '')
      || '}')::json
    FROM (
      SELECT b.key, coalesce(p.value, b.value) AS value, b.place
      FROM json_each(base) WITH ORDINALITY b(key, value, place)
      LEFT JOIN json_each(patch) p ON p.key = b.key WHERE p.key IS NULL OR json_typeof(p.value) <> 'null'
      UNION ALL
      SELECT p.key, p.value, 1000000 + p.place FROM json_each(patch) WITH ORDINALITY p(key, value, place)
      WHERE json_typeof(p.value) <> 'null' AND NOT EXISTS (SELECT FROM json_each(base) b WHERE b.key = p.key)
    ) m)`;
}

/** A JSON text as text, with a replacement character in the place of what no text can hold. */
function textOf({ inSchema }: PostgresNames): string {
  return (
    `CREATE OR REPLACE FUNCTION ${inSchema}text_of(given json) RETURNS text ${EXPRESSION} ` +
    `replace(regexp_replace(given #>> '{}', ${literal(ENCODED_SQL)}, ${literal("\\1\ufffd")}, 'g'), ` +
    `'${TWICE}', '${STAND_IN}')`
  );
}

/** See `stand-ins.ts`. JSON that is shown has the stand-in as an escape, which the driver passes by. */
function standIns({ inSchema }: PostgresNames): string[] {
  return [
    `CREATE OR REPLACE FUNCTION ${inSchema}kept(given text) RETURNS json ${EXPRESSION} ` +
      `CASE WHEN strpos(given, ${literal("\\u")}) = 0 THEN given::json ` +
      `ELSE regexp_replace(given, ${literal(ESCAPES_SQL)}, ${literal(`\\1${STAND_IN}\\2`)}, 'g')::json END`,
    `CREATE OR REPLACE FUNCTION ${inSchema}shown(kept json) RETURNS json ${EXPRESSION} ` +
      `CASE WHEN strpos(kept::text, '${STAND_IN}') = 0 THEN kept ` +
      `ELSE regexp_replace(replace(kept::text, '${TWICE}', ${literal("\\ufdd0")}), '${STAND_IN}(....)', ` +
      `${literal("\\\\u\\1")}, 'g')::json END`,
  ];
}

/** The columns that limit a task. A change of any of them counts for jobs that wait, too. */
const LIMITS = ["max_running_per_key", "rate_limit", "rate_per", "rate_burst", "fair", "own_key"];

/** Puts tasks as `putTask` tells. A task that was removed is put like a new one. */
function putTasks({ inSchema, tasks }: PostgresNames): string {
  const storedVersion = `coalesce(t.version, ${NO_VERSION})`;
  const givenVersion = `coalesce(excluded.version, ${NO_VERSION})`;
  const isEdit = "excluded.declaration IS NULL";
  const isReplaced =
    `(${isEdit} OR t.declaration IS NOT DISTINCT FROM ${REMOVED} OR ` +
    `(t.declaration IS DISTINCT FROM excluded.declaration AND ${storedVersion} <= ${givenVersion}))`;
  const replaced = (column: string, given = `excluded.${column}`): string =>
    `${column} = CASE WHEN ${isReplaced} THEN ${given} ELSE t.${column} END`;
  const isRelimited = LIMITS.map((column) => `t.${column} IS DISTINCT FROM excluded.${column}`).join(" OR ");
  const isOther =
    `t.declaration IS DISTINCT FROM excluded.declaration AND t.declaration IS DISTINCT FROM ${REMOVED} ` +
    "AND coalesce(t.declaration, '') <> v->>5";
  const columns = [
    ...["details", "max_running_jobs", ...LIMITS].map((column) => replaced(column)),
    replaced("limited", "greatest(excluded.limited, t.paused)"),
    `former = CASE WHEN ${isReplaced} AND (${isRelimited}) THEN ` +
      "coalesce(t.former, json_build_array(t.own_key, t.rate_limit, t.rate_per, t.rate_burst)) ELSE t.former END",
    `declaration = CASE WHEN ${isEdit} THEN nullif(t.declaration, ${REMOVED}) ` +
      `WHEN ${isReplaced} THEN excluded.declaration ELSE t.declaration END`,
    `version = CASE WHEN ${isEdit} THEN t.version ` +
      `ELSE nullif(greatest(${storedVersion}, ${givenVersion}), ${NO_VERSION}) END`,
  ];
  return `CREATE OR REPLACE FUNCTION ${inSchema}put_tasks(given json) RETURNS void ${PLPGSQL} AS $$
    DECLARE v json;
    BEGIN
      FOR v IN SELECT json_array_elements(given) LOOP
        INSERT INTO ${tasks} AS t (id, max_running_jobs, details, declaration, version, limited,
          ${LIMITS.join(", ")}, former)
        SELECT v->>0, (v->>1)::bigint, ${inSchema}kept(v->>2), v->>3, (v->>4)::bigint, coalesce((v->>6)::integer, 0),
          (v->>7)::bigint, (v->>8)::bigint, (v->>9)::bigint, (v->>10)::bigint, coalesce((v->>11)::integer, 0), v->>12,
          CASE WHEN v->>6 = '1' THEN '[]'::json END
        ON CONFLICT (id) DO UPDATE SET ${columns.join(", ")} WHERE v->>5 IS NULL OR NOT (${isOther});
      END LOOP;
    END $$`;
}

function openWindows({ inSchema, windows, jobs, results, commits }: PostgresNames): string {
  return `CREATE OR REPLACE FUNCTION ${inSchema}open_windows(given json) RETURNS void ${PLPGSQL} AS $$
    DECLARE v json;
    BEGIN
      FOR v IN SELECT json_array_elements(given) LOOP
        INSERT INTO ${windows} AS w (task_id, kind, key, until, opened_at, job_id)
        SELECT v->>0, v->>1, v->>2, (v->>3)::bigint, (v->>4)::bigint, v->>5
        WHERE NOT EXISTS (
          SELECT FROM ${jobs} WHERE task_id = v->>0 AND idempotency_key = v->>6 AND id <> v->>5
        )
        ON CONFLICT (task_id, kind, key) DO UPDATE SET until = excluded.until, opened_at = excluded.opened_at,
          job_id = CASE WHEN w.until <= excluded.opened_at THEN excluded.job_id ELSE w.job_id END
        WHERE w.until <= excluded.opened_at OR w.opened_at > excluded.opened_at + ${CLOCK_TOLERANCE_MS}
          AND NOT EXISTS (SELECT FROM ${results} WHERE job_id = v->>5)
          AND NOT EXISTS (SELECT FROM ${commits} WHERE id = v->>5)
          AND NOT EXISTS (SELECT FROM ${jobs} WHERE id = v->>5);
      END LOOP;
    END $$`;
}

/** Adds jobs of which some are debounced, or added once in a time. An addition of a burst changes the job of the burst:
 *  one that is earlier than the first one replaces what a wrong clock wrote. Its own parents do not count. A job with a
 *  key that is due is delayed too: then the next commit with flow control blocks it. */
function insertWindowedJobs(names: PostgresNames): string {
  const { inSchema, windows, jobs, results, commits, tasks } = names;
  const added = "(excluded.details->>'createdAt')::bigint";
  const createdAt = `least((j.details->>'createdAt')::bigint, ${added})`;
  const latest = `${createdAt} + (excluded.details->>'maxWaitMs')::bigint`;
  const runAt = `least(excluded.run_at, coalesce(${latest}, excluded.run_at))`;
  const state =
    `CASE WHEN v->>13 IS NULL AND own IS NOT NULL AND v->>8 <> '${dependent}' THEN ${delayed} ` +
    "ELSE (v->>8)::integer END";
  const far = `lpad((${added} + ${CLOCK_TOLERANCE_MS})::text, 16, '0')`;
  return `CREATE OR REPLACE FUNCTION ${inSchema}insert_windowed_jobs(given json) RETURNS void ${PLPGSQL} AS $$
    DECLARE v json; own text; burst text;
    BEGIN
      FOR v IN SELECT json_array_elements(given) LOOP
        CONTINUE WHEN v->>14 IS NOT NULL AND NOT EXISTS (SELECT FROM ${results} WHERE job_id = v->>14);
        CONTINUE WHEN EXISTS (SELECT FROM ${results} WHERE job_id = v->>0);
        CONTINUE WHEN EXISTS (SELECT FROM ${commits} WHERE id = v->>0);
        CONTINUE WHEN EXISTS (SELECT FROM ${jobs} WHERE id = v->>0);
        CONTINUE WHEN v->>18 IS NOT NULL AND NOT EXISTS (SELECT FROM ${windows}
          WHERE task_id = v->>1 AND kind = v->>18 AND key = v->>19 AND job_id = v->>0);
        CONTINUE WHEN v->>5 IS NOT NULL AND EXISTS (SELECT FROM ${jobs}
          WHERE task_id = v->>1 AND idempotency_key = v->>5);
        CONTINUE WHEN v->>3 IS NOT NULL AND EXISTS (SELECT FROM ${jobs}
          WHERE schedule_id = v->>3 AND fire_time = (v->>4)::bigint);
        burst := v->>16;
        own := (SELECT own_key FROM ${tasks} WHERE id = v->>1);
        INSERT INTO ${jobs} AS j (${NEW_JOB_COLUMNS}, concurrency_key, debounce_key, debounced_by)
        SELECT ${newJobValues(names, state)},
          coalesce(v->>13, own), burst, v->>17
        ON CONFLICT (task_id, debounce_key) WHERE debounce_key IS NOT NULL AND fence = 0 DO UPDATE SET
          executor = excluded.executor, priority = excluded.priority, concurrency_key = excluded.concurrency_key,
          debounced_by = excluded.debounced_by, start_deadline = excluded.start_deadline, virtual_time = NULL,
          run_at = ${runAt},
          details = ${inSchema}merged(excluded.details, json_build_object('createdAt', ${createdAt},
            'after', j.details->'after', 'onParentFailure', j.details->'onParentFailure',
            'retryOf', j.details->'retryOf')),
          state = CASE WHEN j.state = ${dependent} THEN ${dependent}
            WHEN ${runAt} > ${added} OR excluded.concurrency_key IS NOT NULL THEN ${delayed} ELSE ${ready} END
        WHERE excluded.debounced_by > j.debounced_by OR j.debounced_by > ${far};
      END LOOP;
    END $$`;
}

/** Keeps the index of labels. The details of jobs and results begin with their labels, if they have any. */
function labels({ inSchema, labels: table, jobs, results, schedules }: PostgresNames): string[] {
  const remove =
    `DELETE FROM ${table} l USING json_each_text(OLD.details->'labels') n WHERE l.kind = ` +
    `TG_ARGV[0]::integer
    AND l.name = n.key AND l.value = n.value AND l.at = coalesce((to_json(OLD)->>'finished_at')::bigint, 0)
    AND l.id = to_json(OLD)->>TG_ARGV[1];`;
  const add = `INSERT INTO ${table} (kind, name, value, at, id) SELECT TG_ARGV[0]::integer, n.key, n.value,
    coalesce((to_json(NEW)->>'finished_at')::bigint, 0), to_json(NEW)->>TG_ARGV[1]
    FROM json_each_text(NEW.details->'labels') n ON CONFLICT DO NOTHING;`;
  const has = (row: string): string => `left(${row}.details::text, 10) = '{"labels":'`;
  const hasAny = (row: string): string => `(${row}.details->'labels') IS NOT NULL`;
  const triggers = (
    of: string,
    kind: keyof typeof LABELLED,
    id: string,
    isLabelled: (row: string) => string,
  ): string[] => {
    const [before, after] = [isLabelled("OLD"), isLabelled("NEW")];
    const call = `EXECUTE FUNCTION ${inSchema}set_labels(${LABELLED[kind]}, '${id}')`;
    const each = `ON ${of} FOR EACH ROW`;
    return [
      `CREATE TRIGGER labels_of_new AFTER INSERT ${each} WHEN (${after}) ${call}`,
      `CREATE TRIGGER labels_of_old AFTER DELETE ${each} WHEN (${before}) ${call}`,
      `CREATE TRIGGER labels_of_changed AFTER UPDATE OF details ${each} WHEN (${before} OR ${after}) ${call}`,
    ];
  };
  return [
    `CREATE OR REPLACE FUNCTION ${inSchema}set_labels() RETURNS trigger ${PLPGSQL} AS $$ BEGIN
      IF TG_OP <> 'INSERT' THEN ${remove} END IF;
      IF TG_OP <> 'DELETE' THEN ${add} END IF;
      RETURN NULL;
    END $$`,
    ...triggers(jobs, "job", "id", has),
    ...triggers(results, "result", "job_id", has),
    ...triggers(schedules, "schedule", "id", hasAny),
  ];
}

/** The logs of a job go with its result, or with the job where that leaves no result. */
function logs({ inSchema, jobs, jobLogs, results }: PostgresNames): string[] {
  return [
    `CREATE OR REPLACE FUNCTION ${inSchema}remove_logs_of_job() RETURNS trigger ${PLPGSQL} AS $$ BEGIN
      DELETE FROM ${jobLogs} WHERE job_id = OLD.id AND NOT EXISTS (SELECT FROM ${results} WHERE job_id = OLD.id);
      RETURN NULL;
    END $$`,
    `CREATE TRIGGER logs_of_old AFTER DELETE ON ${jobs} FOR EACH ROW WHEN (OLD.has_logs = 1) ` +
      `EXECUTE FUNCTION ${inSchema}remove_logs_of_job()`,
    `CREATE OR REPLACE FUNCTION ${inSchema}remove_logs_of_results() RETURNS trigger ${PLPGSQL} AS $$ BEGIN
      DELETE FROM ${jobLogs} WHERE job_id IN (SELECT job_id FROM removed);
      RETURN NULL;
    END $$`,
    `CREATE TRIGGER logs_of_old AFTER DELETE ON ${results} REFERENCING OLD TABLE AS removed FOR EACH STATEMENT ` +
      `EXECUTE FUNCTION ${inSchema}remove_logs_of_results()`,
  ];
}

/** The triggers of notices come into being with the first task of notices, because they double what the end of a job
 *  costs. */
function notices(names: PostgresNames): string[] {
  const { inSchema, tasks, jobs, schedules, histories, runs, changes, overdue } = names;
  const uuid = "replace(gen_random_uuid()::text, '-', '')";
  const id =
    "left(n.hex, 8) || '-' || substr(n.hex, 9) || '-7' || left(n.random, 3) || '-8' || substr(n.random, 4, 3) || '-' " +
    "|| right(n.random, 12)";
  const job =
    `json_build_object('createdAt', happened_at, 'startDeadline', happened_at + ${NOTICE_STARTS_WITHIN_MS}, ` +
    "'resultExpirationMs', coalesce((t.details->>'resultExpirationMs')::bigint, 0), " +
    "'maxRecoveries', coalesce((t.details->>'maxRecoveries')::bigint, 0), 'metadata', " +
    "(left(json_build_object('type', notice, 'at', happened_at, 'scheduleId', schedule, 'taskId', task)::text, " +
    "-1) || ', ' " +
    "|| substr(facts::text, 2))::json)";
  // In the text of a run, its end is a difference to when the job was made, and that one to the fire time.
  const fact = (place: number): string => `coalesce(nullif(split_part(facts, ' ', ${place}), '-')::bigint, 0)`;
  const neutral = NEUTRAL_OUTCOMES.map((outcome) => `'${outcome}'`).join(", ");
  const notice = (type: string, at: string, schedule: string, task: string, facts: string): string =>
    `PERFORM ${inSchema}add_notices(${type}, ${at}, ${schedule}, ${task}, json_build_object(${facts}));`;
  const ofRun = (type: string): string =>
    notice(
      type,
      `NEW.fire_time + ${fact(2)} + ${fact(4)}`,
      `(SELECT schedule_id FROM ${histories} WHERE number = NEW.history)`,
      `(SELECT task_id FROM ${jobs} WHERE id = job)`,
      "'fireTime', NEW.fire_time, 'jobId', job, 'outcome', NEW.outcome",
    );
  const declared =
    "DECLARE facts text := split_part(NEW.run, '/', 1); job text := substr(NEW.run, strpos(NEW.run, '/') + 1);";
  // A run of another store, which is restored, has no job any more.
  const isLive = `EXISTS (SELECT FROM ${jobs} WHERE id = job)`;
  const fn = (name: string, declarations: string, body: string): string =>
    `CREATE OR REPLACE FUNCTION ${inSchema}${name}() RETURNS trigger ${PLPGSQL} AS $$ ${declarations} ` +
    `BEGIN ${body} RETURN NULL; END $$`;
  return [
    `CREATE OR REPLACE FUNCTION ${inSchema}add_notices(notice text, happened_at bigint, schedule text, task ` +
      `text, facts json) ` +
      `RETURNS void ${PLPGSQL} AS $$ BEGIN ` +
      `INSERT INTO ${jobs} (id, task_id, executor, priority, run_at, state, fence, failed_attempts, recoveries, ` +
      "cancel_requested, details, start_deadline, concurrency_key) " +
      `SELECT ${id}, t.id, coalesce(t.details->>'executor', 'inline'), 0, happened_at, ${delayed}, 0, 0, 0, 0, ` +
      `${job}, ` +
      `happened_at + ${NOTICE_STARTS_WITHIN_MS}, t.own_key FROM ${tasks} t ` +
      `CROSS JOIN LATERAL (SELECT lpad(to_hex(happened_at), 12, '0') AS hex, ${uuid} AS random, t.id AS of) n ` +
      `WHERE t.id > '${NOTICE_TASK_PREFIX}' AND t.id < '${NOTICE_TASKS_END}' ` +
      `AND t.declaration IS DISTINCT FROM ${REMOVED} ` +
      "AND notice IN (SELECT json_array_elements_text(t.details->'metadata'->'on')) " +
      "AND (t.details->'metadata'->'schedules' IS NULL " +
      "OR schedule IN (SELECT json_array_elements_text(t.details->'metadata'->'schedules'))) ORDER BY t.id; END $$",
    fn(
      "notice_turn",
      declared,
      `IF ${isLive} AND (SELECT failing FROM ${histories} WHERE number = NEW.history) = ` +
        "(CASE NEW.outcome WHEN 'success' THEN 1 ELSE 0 END) THEN " +
        ofRun("CASE NEW.outcome WHEN 'success' THEN 'recovered' ELSE 'failed' END") +
        ` UPDATE ${histories} SET failing = CASE NEW.outcome WHEN 'success' THEN 0 ELSE 1 END ` +
        "WHERE number = NEW.history; END IF;",
    ),
    fn("notice_success", declared, `IF ${isLive} THEN ${ofRun("'succeeded'")} END IF;`),
    fn(
      "notice_overdue",
      "",
      notice(
        "'overdue'",
        "NEW.raised_at",
        "NEW.schedule_id",
        "NEW.task_id",
        "'fireTime', NEW.fire_time, 'jobId', NEW.job_id, 'kind', NEW.kind, 'dueAt', NEW.due_at",
      ),
    ),
    fn(
      "notice_pause",
      "",
      `IF NEW.kind = 'failed' OR NEW.kind = 'taskPaused' AND (SELECT kind FROM ${changes} WHERE task_id = ` +
        `NEW.task_id ` +
        "AND key IS NOT DISTINCT FROM NEW.key AND seq < NEW.seq ORDER BY seq DESC LIMIT 1) " +
        "IS DISTINCT FROM 'taskPaused' " +
        "OR NEW.kind = 'changed' AND NEW.former->>'paused' = '0' AND NEW.latter->>'paused' = '1' THEN " +
        notice(
          "'paused'",
          "NEW.at",
          "NEW.schedule_id",
          `coalesce(NEW.task_id, (SELECT task_id FROM ${schedules} WHERE id = NEW.schedule_id))`,
          "'key', NEW.key, 'by', NEW.made_by, " +
            "'reason', coalesce(NEW.latter->>'pauseReason', NEW.latter->>'reason'), " +
            "'until', coalesce(NEW.latter->>'pausedUntil', NEW.latter->>'until')::bigint",
        ) +
        " END IF;",
    ),
    // The statements below have the conditions of the triggers, so that other rows call no function.
    `CREATE OR REPLACE FUNCTION ${inSchema}enable_notices(successes boolean) RETURNS void ${PLPGSQL} AS $$ BEGIN
      IF NOT EXISTS (SELECT FROM pg_trigger WHERE tgrelid = '${runs}'::regclass AND tgname = 'notices_of_turns') THEN
        CREATE TRIGGER notices_of_turns AFTER INSERT OR UPDATE ON ${runs} FOR EACH ROW
          WHEN (NEW.outcome NOT IN (${neutral})) EXECUTE FUNCTION ${inSchema}notice_turn();
        CREATE TRIGGER notices AFTER INSERT ON ${overdue} FOR EACH ROW EXECUTE FUNCTION ${inSchema}notice_overdue();
        CREATE TRIGGER notices AFTER INSERT ON ${changes} FOR EACH ROW EXECUTE FUNCTION ${inSchema}notice_pause();
      END IF;
      IF successes AND NOT EXISTS (
        SELECT FROM pg_trigger WHERE tgrelid = '${runs}'::regclass AND tgname = 'notices_of_successes'
      ) THEN
        CREATE TRIGGER notices_of_successes AFTER INSERT OR UPDATE ON ${runs} FOR EACH ROW
          WHEN (NEW.outcome = 'success') EXECUTE FUNCTION ${inSchema}notice_success();
      END IF;
    END $$`,
  ];
}
