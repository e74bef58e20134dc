import { isPlain, mustBe, optionError, readingError } from "../../core/option-errors.ts";
import type { StandardSchemaV1 } from "../../core/standard-schema.ts";
import { checkId, checkTaskSettings } from "../options/check-options.ts";
import type { TaskSettings } from "../options/options.ts";
import type { JobContext, ResultOf, Task, TaskHandler } from "../scheduler-client.ts";

/** A task as `defineTasks` takes it. `S` is the type of the schema, `H` that of the handler. */
export interface TaskDefinition<S = StandardSchemaV1, H = TaskHandler<never>> {
  /** Checks payloads when they are added and before they run, and gives them their types. */
  readonly schema?: S | undefined;
  readonly settings?: TaskSettings<HandledPayload<S>> | undefined;
  /** Left out where other programs, or an executor such as a pool of threads, have it. */
  readonly handler?: H | undefined;
}

/** A reference to a task, which `defineTasks` made. It is frozen, and holds nothing of any scheduler. */
export class DefinedTask<P = unknown, R = unknown> implements Task<P, R> {
  readonly id: string;
  readonly schema: StandardSchemaV1 | null;
  readonly settings: TaskSettings;
  readonly handler: TaskHandler<never> | null;
  /** Carries types only; it has no value at run time. */
  declare readonly "~types"?: { readonly payload: P; readonly result: R };

  constructor(id: string, { schema, settings, handler }: TaskDefinition) {
    this.id = id;
    this.schema = schema ?? null;
    this.settings = Object.freeze({ ...settings });
    this.handler = handler ?? null;
    Object.freeze(this);
  }
}

/** The payload that a handler gets: what its schema returns. */
type HandledPayload<S> = [S] extends [StandardSchemaV1<unknown, infer O>] ? O : never;

/** The payload that callers pass: what the schema takes, or else the handler. */
type CallersPayload<S, H> = unknown extends S
  ? H extends (...given: infer Given) => unknown
    ? Given extends readonly [infer P, ...unknown[]]
      ? [P] extends [never]
        ? undefined
        : P
      : undefined
    : unknown
  : S extends StandardSchemaV1<infer I, unknown>
    ? I
    : unknown;

/** What `defineTasks` returns: a reference for each definition. */
export type DefinedTasks<Schemas, Handlers> = {
  readonly [Id in keyof Schemas]: DefinedTask<
    CallersPayload<Schemas[Id], Id extends keyof Handlers ? Handlers[Id] : unknown>,
    Id extends keyof Handlers ? ResultOf<Handlers[Id]> : unknown
  >;
};

/**
 * Tasks that several programs share: what one program adds, another one runs. The keys are the ids. Pass a reference
 * (`tasks.mail`) wherever a task is asked for. `scheduler.use(tasks)` registers the handlers.
 *
 * A program that only passes references checks payloads by the schema, and declares nothing: the settings that the
 * workers declared count. Jobs may be added before a worker has ever started; they get the settings of the reference.
 * @throws {OptionsError} for anything but definitions
 * @example
 * export const tasks = defineTasks({
 *   mail: { schema: v.object({ to: v.string() }), settings: { timeout: "30s" }, handler: ({ to }) => send(to) },
 * });
 * scheduler.use(tasks); // in the worker
 * await scheduler.addJob(tasks.mail, { payload: { to: "ada@example.org" } }); // anywhere
 */
export function defineTasks<Schemas extends Record<string, unknown>, Handlers extends Record<string, unknown>>(
  definitions: {
    readonly [Id in keyof Schemas]: TaskDefinition<
      Schemas[Id] & StandardSchemaV1,
      (payload: HandledPayload<Schemas[Id]>, context: JobContext) => unknown
    >;
  } & { readonly [Id in keyof Handlers]: { readonly handler?: Handlers[Id] } },
): DefinedTasks<Schemas, Handlers> {
  try {
    if (!isPlain(definitions)) {
      const message = mustBe("an object of definitions by id, such as { mail: { handler } }", definitions);
      throw optionError("defineTasks()", "", message);
    }
    const tasks = Object.entries(definitions).map(([id, definition]) => [id, taskOf(id, definition)]);
    return Object.freeze(Object.fromEntries(tasks)) as DefinedTasks<Schemas, Handlers>;
  } catch (error) {
    throw readingError(error, definitions, "defineTasks()");
  }
}

function taskOf(id: string, definition: unknown): DefinedTask {
  const where = `defineTasks(), task "${id}"`;
  if (id === "__proto__") {
    throw optionError("defineTasks()", id, "is no id: code that copies it would set a prototype");
  }
  checkId(id, "task id");
  if (!isPlain(definition) || "~standard" in definition) {
    const advice =
      typeof definition === "function"
        ? "write { handler }"
        : Object(definition) === definition && "~standard" in Object(definition)
          ? "write { schema }"
          : null;
    const message = mustBe("{ schema?, settings?, handler? }", definition, "", advice);
    throw optionError("defineTasks()", id, message);
  }
  const { schema, settings, handler, ...others } = definition;
  const [other] = Object.keys(others);
  if (other !== undefined) {
    const parts = "{ schema?, settings?, handler? }";
    const message = `is no part of a definition, which is ${parts}: write settings: { ${other} }`;
    throw optionError("defineTasks()", `${id}.${other}`, message);
  }
  checkTaskSettings({ ...Object(settings), ...(schema === undefined ? {} : { schema }) }, where);
  if (handler !== undefined && typeof handler !== "function") {
    throw optionError("defineTasks()", `${id}.handler`, mustBe("a function", handler));
  }
  return new DefinedTask(id, definition as TaskDefinition);
}

/** The tasks of `use`. @throws {OptionsError} */
export function tasksToUse(tasks: unknown): readonly DefinedTask[] {
  const list = isPlain(tasks) ? Object.values(tasks) : [];
  const isDefined = list.length > 0 && list.every((task) => task instanceof DefinedTask);
  if (isDefined) return list as DefinedTask[];
  const advice = tasks instanceof DefinedTask ? `write use({ ${tasks.id} })` : null;
  throw optionError("use()", "tasks", mustBe("what defineTasks() returned", tasks, "", advice));
}
