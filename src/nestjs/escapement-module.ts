import type { DynamicModule, FactoryProvider, ModuleMetadata } from "@nestjs/common";
import { ModulesContainer } from "@nestjs/core";
import * as v from "valibot";
import { type Checker, checker, durationMs, hasMethods, says, trueOrFalse } from "../core/check.ts";
import type { Duration } from "../core/duration.ts";
import { mustBe, optionError } from "../core/option-errors.ts";
// The doors, because a provider is found by the class that programs import.
import { Scheduler } from "../mod.ts";
import { Scheduler as StoredScheduler } from "../scheduler.ts";
import { SchedulerLife } from "./scheduler-life.ts";

/** Options of `EscapementModule.forRoot`. */
export interface EscapementModuleOptions {
  /** Whether the scheduler starts with the application. With false, this process is a client of the store, whose jobs
   *  others run. Default: true. */
  readonly start?: boolean | undefined;
  /** How long running jobs may take when the application closes. Default: 30 s, as of `Scheduler.stop`. */
  readonly drainTimeout?: Duration | undefined;
}

/** Options of `EscapementModule.forRootAsync`. */
export interface EscapementModuleAsyncOptions extends EscapementModuleOptions {
  /** Modules whose providers are injected. Default: none. */
  readonly imports?: ModuleMetadata["imports"] | undefined;
  /** What the factory is given, such as `[ConfigService]`. Default: nothing. */
  readonly inject?: FactoryProvider["inject"] | undefined;
  /** Makes the scheduler, from what is injected. */
  readonly useFactory: FactoryProvider<StoredScheduler>["useFactory"];
}

/**
 * Gives an application of NestJS a scheduler. Import it in the root module, after the modules whose services jobs use:
 * NestJS starts modules in the order of their list, and ends them in the opposite one.
 *
 * - Each module can inject it: `constructor(private readonly scheduler: Scheduler) {}`, where `Scheduler` is the class
 *   of `escapement` or of `escapement/scheduler`.
 * - When the application has started (`onApplicationBootstrap`), methods with `@Scheduled` and `@Handles` are told to
 *   the scheduler, and then it starts.
 * - When the application closes (`onModuleDestroy`), running jobs may end before other modules go. Call
 *   `app.enableShutdownHooks()`, so that SIGTERM closes it.
 *
 * @example
 * const scheduler = new Scheduler({ dataStore: new SqliteDataStore({ path: "jobs.db" }) });
 * const imports = [DatabaseModule, EscapementModule.forRoot(scheduler)]; // of the root module
 */
// biome-ignore lint/complexity/noStaticOnlyClass: NestJS knows a module by its class
export class EscapementModule {
  /**
   * @param scheduler not started yet
   * @throws {OptionsError} for unknown or invalid options
   */
  static forRoot(scheduler: StoredScheduler, options: EscapementModuleOptions = {}): DynamicModule {
    const where = "EscapementModule.forRoot()";
    assertScheduler(scheduler, where);
    return moduleOf({ ...options, useFactory: () => scheduler }, where);
  }

  /**
   * The same where the scheduler needs what other modules have.
   * @throws {OptionsError} for unknown or invalid options; the application does not start where the factory makes
   *   something else than a scheduler
   * @example
   * EscapementModule.forRootAsync({
   *   inject: [ConfigService],
   *   useFactory: (config: ConfigService) => new Scheduler({ timeZone: config.get("TIME_ZONE") }),
   * });
   */
  static forRootAsync(options: EscapementModuleAsyncOptions): DynamicModule {
    return moduleOf(options, "EscapementModule.forRootAsync()");
  }
}

/** Shows the scheduler to all modules. It is a module of its own, because NestJS ends what is global last. */
class SharedScheduler {}

/** The schema is made at the first call, because importing must cost nothing. */
let check: Checker<unknown> | undefined;

function moduleOf(options: EscapementModuleAsyncOptions, where: string): DynamicModule {
  check ??= checker(
    v.strictObject({
      imports: v.optional(v.array(v.any(), says("a list of modules"))),
      inject: v.optional(v.array(v.any(), says("a list of providers"))),
      useFactory: v.function(says("a function that makes a Scheduler")),
      start: v.optional(trueOrFalse),
      drainTimeout: v.optional(durationMs()),
    }),
  );
  check(options, where);
  const { imports = [], inject = [], useFactory, start, drainTimeout } = options;
  const made = async (...injected: readonly unknown[]) => assertScheduler(await useFactory(...injected), where);
  return {
    module: EscapementModule,
    imports: [
      {
        module: SharedScheduler,
        global: true,
        imports,
        providers: [
          { provide: StoredScheduler, inject, useFactory: made },
          { provide: Scheduler, useExisting: StoredScheduler },
        ],
        exports: [StoredScheduler, Scheduler],
      },
    ],
    providers: [
      {
        provide: SchedulerLife,
        inject: [StoredScheduler, ModulesContainer],
        useFactory: (scheduler: StoredScheduler, modules: ModulesContainer) =>
          new SchedulerLife(scheduler, modules, { start, drainTimeout }),
      },
    ],
  };
}

function assertScheduler(scheduler: StoredScheduler, where: string): StoredScheduler {
  if (hasMethods(scheduler, ["start", "stop", "addJob"])) return scheduler;
  throw optionError(where, "scheduler", mustBe("a Scheduler", scheduler));
}
