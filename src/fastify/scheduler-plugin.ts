import type { FastifyInstance, FastifyPluginAsync } from "fastify";
import * as v from "valibot";
import { type Checker, checker, durationMs, hasMethods, implementing, says, trueOrFalse } from "../core/check.ts";
import type { Duration } from "../core/duration.ts";
import type { Router } from "../hono/create-router.ts";
import type { Scheduler } from "../scheduler/scheduler.ts";

/** Options of `schedulerPlugin`. */
export interface SchedulerPluginOptions {
  /** The scheduler, which is not started yet. Handlers of routes find it as `fastify.scheduler`. */
  readonly scheduler: Scheduler;
  /** A router of `createRouter`, which needs no `basePath` here. Default: none is mounted. */
  readonly router?: Router | undefined;
  /** Where the router is mounted, below the prefix of the instance that the plugin is registered in. Default:
   *  `/scheduler`. */
  readonly prefix?: string;
  /** Whether the scheduler starts when the server is ready. With false, this process is a client of the store, whose
   *  jobs others run. Default: true. */
  readonly start?: boolean | undefined;
  /** How long running jobs may take when the server closes. Default: 30 s, as of `Scheduler.stop`. */
  readonly drainTimeout?: Duration | undefined;
}

/** The schema is made at the first call, because importing must cost nothing. */
let check: Checker<unknown> | undefined;

/**
 * Gives an instance of Fastify a scheduler. The scheduler starts when the instance is ready, and `close()` stops it:
 * streams of events end, and running jobs may end, before the server stops to listen. Call `close()` on SIGTERM,
 * because Fastify leaves signals to the program. The router gets the bodies of its requests, which Fastify does not
 * read.
 *
 * Mounting a router needs the packages `hono` and `@hono/node-server`.
 * @throws {OptionsError} for unknown or invalid options; `register` and `ready` reject with it
 * @example
 * const router = createRouter(scheduler, { auth: { tokens: [{ token, scope: "write" }] } });
 * await fastify.register(schedulerPlugin, { scheduler, router, prefix: "/scheduler" });
 * fastify.post("/reports", async () => ({ id: (await fastify.scheduler.addJob("report")).id }));
 * await fastify.listen({ port: 3000 });
 * process.once("SIGTERM", () => fastify.close());
 */
export const schedulerPlugin: FastifyPluginAsync<SchedulerPluginOptions> = Object.assign(
  async function schedulerPlugin(fastify: FastifyInstance, options: SchedulerPluginOptions): Promise<void> {
    check ??= checker(schema(), {
      instead: (value) => (hasMethods(value, ["addJob"]) ? "pass it as { scheduler }" : null),
    });
    check(options, "schedulerPlugin");
    const { scheduler, router, prefix = "/scheduler", start = true, drainTimeout } = options;
    fastify.decorate("scheduler", scheduler);
    let isClosed = false;
    // A server that is closed while it starts runs both hooks, in any order.
    if (start) fastify.addHook("onReady", async () => void (isClosed || (await scheduler.start())));
    // And not onClose, which waits for all connections, those of streams of events too.
    fastify.addHook("preClose", async () => {
      isClosed = true;
      router?.close();
      await scheduler.stop(drainTimeout === undefined ? {} : { drainTimeout });
    });
    if (router !== undefined) await fastify.register(mount(router), { prefix });
  },
  // What it adds is for the instance that registers it, and not for a child of that.
  { [Symbol.for("skip-override")]: true, [Symbol.for("fastify.display-name")]: "escapement" },
);

function mount(router: Router): FastifyPluginAsync {
  return async (scope) => {
    const [{ Hono }, { getRequestListener }] = await Promise.all([import("hono"), import("@hono/node-server")]);
    const listener = getRequestListener(new Hono().route(scope.prefix, router).fetch);
    // The router reads bodies itself.
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser("*", (_request, _body, done) => done(null));
    for (const path of ["", "/*"]) {
      scope.all(path, (request, reply) => {
        reply.hijack();
        return listener(request.raw, reply.raw);
      });
    }
  };
}

function schema(): v.GenericSchema {
  return v.strictObject({
    scheduler: implementing<Scheduler>("a Scheduler", ["start", "stop", "addJob"]),
    router: v.optional(implementing<Router>("a router of createRouter()", ["fetch", "close"])),
    prefix: v.optional(v.pipe(v.string(says(PATH)), v.regex(/^\/.*[^/]$/, says(PATH)))),
    start: v.optional(trueOrFalse),
    drainTimeout: v.optional(durationMs()),
  });
}

const PATH = "a path such as /scheduler";
