// @ts-check

// The JSON Schema of what the commands print with `--json`: `dist/cli/output.schema.json`. Records are those of the
// router, whose schemas are those of its OpenAPI document.

/** @typedef {{ readonly [key: string]: unknown }} Json */

const text = { type: "string" };
const textOrNull = { type: ["string", "null"] };
const count = { type: "integer", minimum: 0 };
const anything = { type: "object" };

/** @param {string} name */
const ref = (name) => ({ $ref: `#/$defs/${name}` });
/** @param {Json} items */
const listOf = (items) => ({ type: "array", items });
/** @param {readonly unknown[]} values */
const oneOf = (values) => ({ enum: values });
/** @param {...Json} schemas */
const either = (...schemas) => ({ anyOf: schemas });
/** @param {Json} properties @param {readonly string[]} [optional] */
const objectOf = (properties, optional = []) => ({
  type: "object",
  properties,
  required: Object.keys(properties).filter((name) => !optional.includes(name)),
  additionalProperties: false,
});
/** A page of one kind. @param {Json} item */
const pageOf = (item) => objectOf({ items: listOf(item), cursor: textOrNull });

const taskPause = objectOf({ taskId: text, key: textOrNull, until: textOrNull, reason: textOrNull, by: textOrNull });

/** What became of the records of one kind of an export. */
const counts = {
  type: "object",
  properties: { added: count, kept: count },
  required: ["added", "kept"],
  additionalProperties: count,
};

/** What cannot be taken over. */
const problem = objectOf({ where: text, message: text });
/** What the import of another queue has besides. */
const OF_QUEUES = ["jobs", "pausedTaskIds", "notes", "left"];

/** A line of a log: of `run` and of `crontab`. */
const logLine = {
  type: "object",
  properties: { time: text, level: oneOf(["debug", "info", "warn", "error"]), msg: text },
  required: ["time", "level", "msg"],
};

/** An event, as `tail` prints one a line. */
const event = { type: "object", properties: { type: text, timestamp: textOrNull }, required: ["type", "timestamp"] };

/** By the name of the command. @type {Readonly<Record<string, Json>>} */
const COMMANDS = {
  next: objectOf({
    description: text,
    timeZone: text,
    items: listOf(
      objectOf({
        at: text,
        local: text,
        clockChange: oneOf(["moved", "first", "second", null]),
        movedFrom: textOrNull,
      }),
    ),
    skipped: listOf(text),
  }),
  lint: objectOf({
    file: text,
    rules: count,
    findings: listOf(
      objectOf({
        line: { type: "integer", minimum: 1 },
        column: { type: "integer", minimum: 1 },
        severity: oneOf(["error", "warning", "note"]),
        rule: text,
        expression: text,
        message: text,
        suggestion: textOrNull,
      }),
    ),
  }),
  forecast: ref("Forecast"),
  import: either(
    objectOf(
      {
        from: text,
        schedules: listOf(
          objectOf({
            ...{ where: text, id: text, taskId: text, written: text, trigger: anything, description: text },
            ...{ settings: anything, notes: listOf(text), next: textOrNull },
          }),
        ),
        problems: listOf(problem),
        ...{ jobs: listOf(anything), pausedTaskIds: listOf(text), notes: listOf(text), left: listOf(problem) },
      },
      OF_QUEUES,
    ),
    objectOf(
      {
        ...{ schedules: listOf(ref("Schedule")), problems: listOf(problem) },
        ...{ jobs: listOf(ref("Job")), left: listOf(problem) },
      },
      OF_QUEUES,
    ),
    objectOf({
      ...{ dryRun: { type: "boolean" }, exportedAt: text },
      ...{ tasks: counts, schedules: counts, blackouts: counts, jobs: counts, results: counts },
      ...{ occurrences: count, taskPauses: count, notImported: listOf(anything) },
    }),
  ),
  init: objectOf({ files: listOf(text), next: listOf(text) }),
  list: either(
    // Schedules, with the pause of their task or its key.
    pageOf({
      type: "object",
      properties: { id: text, taskId: text, taskPause: either({ type: "null" }, taskPause) },
      required: ["id", "taskId", "trigger", "taskPause"],
    }),
    pageOf(ref("Run")),
    pageOf(ref("Job")),
    pageOf(ref("Task")),
    pageOf(ref("Blackout")),
  ),
  show: either(
    ref("Run"),
    // A schedule, with its fire times to come and what became of the last ones.
    {
      type: "object",
      properties: { id: text, taskId: text, next: listOf(anything), runs: listOf(ref("Occurrence")) },
      required: ["id", "taskId", "trigger", "next", "runs"],
    },
  ),
  tail: event,
  add: ref("Schedule"),
  pause: either(objectOf({ items: listOf(ref("Schedule")) }), objectOf({ items: listOf(ref("Task")) })),
  unpause: either(objectOf({ items: listOf(ref("Schedule")) }), objectOf({ items: listOf(ref("Task")) })),
  heal: objectOf({ items: listOf(ref("Schedule")) }),
  now: either(ref("Job"), ref("JobResult"), { type: "null" }),
  cancel: objectOf({ items: listOf(objectOf({ id: text, cancellation: oneOf(["delivered", "asked", "tooLate"]) })) }),
  retry: either(
    objectOf({ items: listOf(ref("Job")) }),
    objectOf({
      retried: count,
      skipped: count,
      refusals: listOf(objectOf({ id: text, code: text, detail: text })),
    }),
  ),
  backfill: ref("BackfillReport"),
  explain: ref("Explanation"),
  history: either(pageOf(ref("Occurrence")), pageOf(ref("ScheduleChange"))),
  logs: objectOf({ items: listOf({ type: "object", required: ["attempt", "lines", "dropped"] }) }),
  plan: ref("Plan"),
  apply: ref("Plan"),
  simulate: objectOf({
    occurrences: listOf(objectOf({ scheduleId: text, fireTime: text, verdict: text, startedAt: textOrNull })),
    counts: { type: "object", additionalProperties: count },
    text,
  }),
  export: anything,
  schema: objectOf({ sql: text }),
  doctor: objectOf({
    checks: listOf(objectOf({ verdict: oneOf(["ok", "warn", "fail"]), name: text, message: text })),
  }),
  dashboard: objectOf({ url: text }),
  run: either(objectOf({ jobsRun: count, outcomes: { type: "object", additionalProperties: count } }), logLine),
  crontab: logLine,
  error: objectOf({ error: objectOf({ code: text, message: text }) }),
};

/**
 * The schema of all commands, each below `$defs` by its name.
 *
 * @param {{ readonly components: { readonly schemas: Readonly<Record<string, Json>> } }} openApi
 * @returns {Json & { readonly $defs: Readonly<Record<string, Json>> }}
 */
export function outputSchema({ components }) {
  const named = JSON.parse(JSON.stringify(components.schemas).replaceAll("#/components/schemas/", "#/$defs/"));
  const wanted = new Set(refsOf(COMMANDS));
  for (const name of wanted) for (const more of refsOf(named[name])) wanted.add(more);
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "What the commands of escapement print with --json",
    description:
      "A schema for each command, below $defs by its name; tail, export, run and crontab print one value a line. " +
      "A command that fails prints `error`.",
    $defs: { ...COMMANDS, ...Object.fromEntries([...wanted].sort().map((name) => [name, named[name]])) },
  };
}

/** The names that a schema refers to. @param {unknown} schema @returns {string[]} */
function refsOf(schema) {
  return [...JSON.stringify(schema).matchAll(/"#\/\$defs\/(\w+)"/g)].map(([, name = ""]) => name);
}
