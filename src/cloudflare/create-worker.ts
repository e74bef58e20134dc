import { isPlain } from "../core/option-errors.ts";
import type { Scheduler } from "../scheduler/scheduler.ts";
import type { GivenContext, ScheduledEvent, WorkerContext } from "./shapes.ts";
import { assertScheduler, checkWorkerOptions, type WorkerOptions } from "./worker-options.ts";

/** A module's default export, as workerd wants it, and Bun and Deno too. */
export interface SchedulerWorker<Env> {
  /** Answers a request. Rejects with what the factory or the router throws. */
  fetch(request: Request, env?: Env, ctx?: GivenContext): Promise<Response>;
  /** Does one tick. Rejects when the tick fails, so that the platform shows the invocation as failed. */
  scheduled(event?: ScheduledEvent, env?: Env, ctx?: GivenContext): Promise<void>;
}

/**
 * Makes a Worker of a scheduler: `scheduled` does one tick for each Cron Trigger, and `fetch` hands requests to a
 * router. The trigger to configure is `* * * * *`; which schedules fire when is in the store.
 *
 * Each invocation has a scheduler of its own, so invocations may overlap: a fire time makes one job, and a job is
 * leased to one tick. The invocation waits for its tick, and a tick that fails makes it fail; nothing is lost, and the
 * next one goes on.
 *
 * The same file runs elsewhere: `Bun.cron` calls `scheduled` without `env` and `ctx`, and `bun worker.ts` and
 * `deno serve worker.ts` serve `fetch`. Then `env` is what the environment of the process has.
 * @throws {OptionsError} for unknown or invalid options
 * @example
 * export default createWorker<{ TURSO_URL: string; TURSO_TOKEN: string }>({
 *   scheduler: async (env) => {
 *     const dataStore = new LibsqlDataStore({ url: env.TURSO_URL, authToken: env.TURSO_TOKEN });
 *     const scheduler = new Scheduler({ dataStore });
 *     await scheduler.schedule("report", "0 9 * * mon-fri", () => console.log("Good morning"));
 *     return scheduler;
 *   },
 *   tick: { maxRoundTrips: 40 },
 * });
 */
export function createWorker<Env = unknown>(options: WorkerOptions<Env>): SchedulerWorker<Env> {
  checkWorkerOptions(options);
  const { router, tickAfterFetch = false } = options;
  let hasSchedules = false;
  const make = async ({ env, ctx }: HostCall<Env>): Promise<Scheduler> =>
    assertScheduler(await options.scheduler(env, ctx));

  return {
    async fetch(request, env, ctx) {
      if (router === undefined) return new Response("Not Found", { status: 404 });
      const call = hostCall(env, ctx);
      const scheduler = await make(call);
      const response = await router(request, scheduler, call.env, call.ctx);
      const isTickAsked = typeof tickAfterFetch === "function" ? tickAfterFetch(request, response) : tickAfterFetch;
      // The platform ends it some 30 s after the answer, so that it does not stay.
      if (isTickAsked) call.ctx.waitUntil(scheduler.tick({ ...options.tick, stay: undefined }));
      // Without a platform, only the log tells of work that fails after the answer.
      call.settled().catch((error) => console.error("escapement: work after an answer failed", error));
      return response;
    },

    async scheduled(_event, env, ctx) {
      const call = hostCall(env, ctx);
      const scheduler = await make(call);
      if (!hasSchedules) await options.schedules?.(scheduler, call.env);
      hasSchedules = true;
      await scheduler.tick(options.tick);
      await call.settled();
    },
  };
}

/** What an invocation works with, also where no Worker's platform made it. */
interface HostCall<Env> {
  readonly env: Env;
  readonly ctx: WorkerContext;
  /** Resolves when what `waitUntil` was given has settled; rejects with the first failure of it. Where the platform
   *  itself has a `waitUntil`, that waits, and this resolves at once. */
  settled(): Promise<void>;
}

/**
 * Fills in what is missing where another runtime calls the same file: `Bun.cron` hands over no `env` and no `ctx`, and
 * servers (`bun worker.ts`, `deno serve worker.ts`) hand over something else in the place of `env`. Then the variables
 * of the process are the `env`, as far as the runtime lets the program read them.
 */
function hostCall<Env>(env: Env | undefined, ctx: GivenContext | undefined): HostCall<Env> {
  // A platform that hands over a context hands over an env, and all that a context has.
  if (typeof ctx?.waitUntil === "function") {
    return { env: env as Env, ctx: ctx as WorkerContext, settled: async () => {} };
  }
  const waiting: Promise<unknown>[] = [];
  return {
    // A Worker's file says which variables it expects; nothing else can.
    env: isPlain(env) ? env : (processVariables() as Env),
    ctx: {
      waitUntil: (promise) => {
        // Somebody listens, so that a failure does not end the process before `settled` tells of it.
        promise.catch(() => {});
        waiting.push(promise);
      },
      passThroughOnException: () => {},
      props: {},
    },
    async settled() {
      // What is waited for may itself ask to be waited for.
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) await next;
    },
  };
}

/** Reads each variable when it is asked for: Deno allows some, and throws for others. */
function processVariables(): object {
  return (globalThis as { readonly process?: { readonly env?: object } }).process?.env ?? {};
}
