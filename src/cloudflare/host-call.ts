import { isPlain } from "../core/option-errors.ts";
import type { GivenContext, WorkerContext } from "./shapes.ts";

/** What an invocation works with, also where no Worker's platform made it. */
export interface HostCall<Env> {
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
export function hostCall<Env>(env: Env | undefined, ctx: GivenContext | undefined): HostCall<Env> {
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
