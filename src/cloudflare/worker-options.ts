import * as v from "valibot";
import { type Checker, checker, hasMethods, says } from "../core/check.ts";
import { mustBe, optionError } from "../core/option-errors.ts";
import { tickOptionsSchema } from "../scheduler/options/option-schemas.ts";
import type { TickOptions } from "../scheduler/options/options.ts";
import type { Scheduler } from "../scheduler/scheduler.ts";
import type { WorkerContext } from "./shapes.ts";

/** Options of `createWorker`. `Env` has the bindings, the variables and the secrets of the Worker. */
export interface WorkerOptions<Env> {
  /**
   * Makes the scheduler of one invocation, and registers its tasks. Called once per invocation, because a Worker's
   * requests must not share connections. What may be shared is plain values at module scope, such as the definitions of
   * tasks.
   */
  readonly scheduler: (env: Env, ctx: WorkerContext) => Scheduler | Promise<Scheduler>;
  /** Adds the schedules that the program declares. Called before the first tick of a Cron Trigger in each isolate,
   *  and by no request, so that strangers cause no work. Called again where it has failed. Default: none are added. */
  readonly schedules?: ((scheduler: Scheduler, env: Env) => unknown) | undefined;
  /** Options of each tick. Default: `{}`. Give a `maxRoundTrips` where the plan bounds the requests of an
   *  invocation. */
  readonly tick?: TickOptions | undefined;
  /** Answers requests. Default: 404 to each, for a Worker that only has Cron Triggers. */
  readonly router?:
    | ((request: Request, scheduler: Scheduler, env: Env, ctx: WorkerContext) => Response | Promise<Response>)
    | undefined;
  /**
   * Whether a tick follows the router's answer, so that jobs which the request added need not wait for the next Cron
   * Trigger. A tick that finds nothing costs a read, so a function may choose the requests, and leave out those of
   * strangers, which the router has refused: `({ method }, { ok }) => method === "POST" && ok`. The bodies may have
   * been read by then. The platform ends such a tick some 30 s after the answer. Default: false.
   */
  readonly tickAfterFetch?: boolean | ((request: Request, response: Response) => boolean) | undefined;
}

/** The schemas are made at the first call, because importing must cost nothing. */
let check: Checker<unknown> | undefined;

/** @throws {OptionsError} with one issue per problem */
export function checkWorkerOptions(options: object): void {
  check ??= checker(
    v.strictObject({
      scheduler: v.function(({ input }) =>
        mustBe("a function (env, ctx) => Scheduler", input, "", hasMethods(input, ["tick"]) ? FOR_A_SCHEDULER : null),
      ),
      schedules: v.optional(v.function(says("a function (scheduler, env) => Promise"))),
      tick: v.optional(tickOptionsSchema()),
      router: v.optional(v.function(says("a function (request, scheduler, env, ctx) => Response"))),
      tickAfterFetch: v.optional(v.union([v.boolean(), v.function()], says("true, false or a function of a request"))),
    }),
    {
      instead: (value) =>
        typeof value === "function" || hasMethods(value, ["tick"]) ? "write { scheduler: () => scheduler }" : null,
    },
  );
  check(options, "createWorker()");
}

const FOR_A_SCHEDULER = "make it within a function, because a Worker's requests must not share connections";

/** @throws {OptionsError} when the function that makes the scheduler has made something else */
export function assertScheduler(scheduler: Scheduler): Scheduler {
  if (hasMethods(scheduler, ["tick", "addJob"])) return scheduler;
  const message = mustBe("a function that returns a Scheduler", scheduler).replace("got", "it returned");
  throw optionError("createWorker()", "scheduler", message);
}
