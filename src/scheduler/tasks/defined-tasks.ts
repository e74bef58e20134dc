import { isPlain, mustBe, optionError, readingError } from "../../core/option-errors.ts";
import type { StandardSchemaV1 } from "../../core/standard-schema.ts";
import { checkId, checkTaskSettings } from "../options/check-options.ts";
import type { TaskSettings } from "../options/options.ts";
import type { JobContext, ResultOf, Task, TaskHandler } from "../scheduler-client.ts";

/** A task as `defineTasks` takes it. `P` is the payload that the handler gets. */
export interface TaskDefinition<P = never> {
  /** Checks payloads when they are added and before they run, and gives them their types. */
  readonly schema?: StandardSchemaV1<unknown, P> | undefined;
  readonly settings?: TaskSettings<P> | undefined;
  /** Left out where other programs, or an executor such as a pool of threads, have it. `undefined` is refused, because
   *  it is what an import gives that is missing. */
  readonly handler?: (payload: P, context: JobContext) => unknown;
}

/**
 * A reference to a task, which `defineTasks` made. It is frozen, and holds nothing of any scheduler.
 *
 * @example
 * const { mail } = defineTasks({ mail: { handler: (to: string) => `mail to ${to}` } });
 * await client.addJob(mail, { payload: "ada@example.org" });
 */
export class DefinedTask<P = unknown, R = unknown> implements Task<P, R> {
  readonly id: string;
  /** What checks and types the payload; null for none. */
  readonly schema: StandardSchemaV1 | null;
  /** The settings that the task is declared with. */
  readonly settings: TaskSettings;
  /** What runs a job of the task. */
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

/** The definitions of tasks, by the payloads of their handlers. */
type Definitions<Payloads> = { readonly [Id in keyof Payloads]: TaskDefinition<Payloads[Id]> };

/** What was given to `defineTasks`, where it fits. It is inferred apart from `Definitions`, of which TypeScript before
 *  5.9 takes the types of a handler's parameters only where nothing else describes the handler. */
type Fitting<Given, All> = Given extends All
  ? { readonly [Id in keyof Given]: Exclude<keyof Given[Id], keyof TaskDefinition> }[keyof Given] extends never
    ? Given
    : never
  : never;

type SchemaOf<D> = D extends { readonly schema: infer S } ? S : unknown;
type HandlerOf<D> = D extends { readonly handler: infer H } ? H : unknown;

/** The payload that callers pass: what the schema takes, or else the handler. */
type CallersPayload<S, H> = unknown extends S
  ? H extends (...given: infer Given) => unknown
    ? Given extends readonly [infer P, ...unknown[]]
      ? unknown extends P
        ? undefined
        : P
      : undefined
    : unknown
  : S extends StandardSchemaV1<infer I, unknown>
    ? I
    : unknown;

/** What `defineTasks` returns: a reference for each definition. */
export type DefinedTasks<Given> = {
  readonly [Id in keyof Given]: DefinedTask<
    CallersPayload<SchemaOf<Given[Id]>, HandlerOf<Given[Id]>>,
    ResultOf<HandlerOf<Given[Id]>>
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
export function defineTasks<Payloads extends Record<string, unknown>, Given>(
  definitions: Definitions<Payloads> | Fitting<Given, Definitions<Payloads>>,
): DefinedTasks<Given> {
  try {
    if (!isPlain(definitions)) {
      const message = mustBe("an object of definitions by id, such as { mail: { handler } }", definitions);
      throw optionError("defineTasks()", "", message);
    }
    const tasks = Object.entries(definitions).map(([id, definition]) => [id, taskOf(id, definition)]);
    return Object.freeze(Object.fromEntries(tasks)) as DefinedTasks<Given>;
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
  // An import that is not there, or not there yet, is `undefined`: without a word, nothing would ever run the task.
  if (Object.hasOwn(definition, "handler") && typeof handler !== "function") {
    const advice = handler === undefined ? "leave it out where another program has it" : null;
    throw optionError("defineTasks()", `${id}.handler`, mustBe("a function", handler, "", advice));
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
