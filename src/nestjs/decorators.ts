import { optionError } from "../core/option-errors.ts";
import type { TaskSettings } from "../scheduler/options/options.ts";
import type { RequiredPayload, ScheduledTaskOptions } from "../scheduler/options/payload-argument.ts";
import type { Scheduler } from "../scheduler/scheduler.ts";
import type { TaskHandler } from "../scheduler/scheduler-client.ts";
import type { TriggerLike } from "../triggers/short-trigger.ts";

/** A decorator of methods that can handle a payload of type `P`. */
export type HandlerDecorator<P> = <Method extends TaskHandler<P>>(
  target: object,
  name: string | symbol,
  descriptor: TypedPropertyDescriptor<Method>,
) => void;

/** Tells a scheduler of a decorated method. */
type Register = (scheduler: Scheduler, handler: TaskHandler<never>) => unknown;

export interface Decorated {
  /** Of the task. */
  readonly id: string;
  readonly name: string | symbol;
  readonly register: Register;
}

/** The decorated methods of classes, by their prototypes. */
const decorated = new WeakMap<object, Decorated[]>();

/**
 * Makes a method of a provider or a controller the handler of a schedule, as `Scheduler.schedule` does with a function:
 * a task and a schedule of this id. The module adds it when the application has started. Guards, interceptors and pipes
 * are for requests, and are not called.
 *
 * The class has to have the default scope, because no request makes an instance for a job.
 * @param id the id of the schedule and of its task
 * @param trigger a trigger, crontab text in the time zone of the scheduler, or `{ every: "5m" }`
 * @param options of the schedule, and settings of the task; the method gets their `payload`
 * @throws {OptionsError} where the compiler option `experimentalDecorators` is not set, which NestJS needs
 * @example
 * class Reports { @Scheduled("report", "0 9 * * mon-fri", { timeout: "5m" }) async send(): Promise<void> {} }
 */
export function Scheduled(id: string, trigger: TriggerLike): HandlerDecorator<undefined>;
export function Scheduled<P = undefined>(
  id: string,
  trigger: TriggerLike,
  options: ScheduledTaskOptions<P> & RequiredPayload<P>,
): HandlerDecorator<P>;
export function Scheduled(id: string, trigger: TriggerLike, options: object = {}): HandlerDecorator<never> {
  return decorator("@Scheduled()", id, (scheduler, handler) => scheduler.schedule(id, trigger, options, handler));
}

/**
 * Makes a method of a provider or a controller the handler of a task, as `Scheduler.task` does with a function. Jobs of
 * the task are added by `Scheduler.addJob`, and by schedules that the program adds.
 * @param taskId the id of the task
 * @param settings of the task. Default: none
 * @throws {OptionsError} where the compiler option `experimentalDecorators` is not set, which NestJS needs
 * @example
 * class Invoices { @Handles("charge") async charge({ customer }: { customer: string }): Promise<void> {} }
 */
export function Handles(taskId: string, settings: TaskSettings<never> = {}): HandlerDecorator<never> {
  return decorator("@Handles()", taskId, (scheduler, handler) => scheduler.task(taskId, settings, handler));
}

function decorator(where: string, id: string, register: Register): HandlerDecorator<never> {
  return (target, name) => {
    if (typeof name === "object") {
      throw optionError(where, "", 'needs "experimentalDecorators": true among the compilerOptions, as NestJS does');
    }
    const methods = decorated.get(target) ?? [];
    decorated.set(target, [...methods, { id, name, register }]);
  };
}

/** The decorated methods of a class and of those that it extends; of methods that override each other, the last. */
export function decoratedMethods(prototype: object): Decorated[] {
  const methods: Decorated[] = [];
  for (let at: object | null = prototype; at !== null; at = Object.getPrototypeOf(at)) {
    const names = new Set(methods.map(({ name }) => name));
    methods.push(...(decorated.get(at) ?? []).filter(({ name }) => !names.has(name)));
  }
  return methods;
}
