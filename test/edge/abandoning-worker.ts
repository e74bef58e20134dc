// A Worker whose scheduler lives in its isolate, for abandoned-requests.node.test.ts. `/call/VERB` does something;
// `/abandon/VERB` begins the same and answers at once, so that the runtime ends what was begun in the middle.
import { createClient } from "@libsql/client/web";
import { Scheduler, type Task } from "../../src/mod.ts";
import { LibsqlDataStore } from "../../src/stores/libsql/mod.ts";

interface Env {
  readonly DATABASE: string;
}

let made: { readonly scheduler: Scheduler; readonly task: Task } | null = null;
let runs = 0;
const errors: string[] = [];
const ignored = (): void => {};
const logger = { debug: ignored, info: ignored, warn: ignored, error: (message: string) => void errors.push(message) };

function make({ DATABASE }: Env): { readonly scheduler: Scheduler; readonly task: Task } {
  const client = createClient({ url: DATABASE, concurrency: Number.POSITIVE_INFINITY });
  const scheduler = new Scheduler({ dataStore: new LibsqlDataStore({ client }), logger });
  const task = scheduler.task("count", { maxRunningJobs: null }, () => ++runs);
  return { scheduler, task };
}

async function call(verb: string, env: Env): Promise<unknown> {
  made ??= make(env);
  const { scheduler, task } = made;
  switch (verb) {
    case "list":
      return (await scheduler.getSchedules()).items.length;
    case "add":
      return (await scheduler.addJob(task)).id.length;
    case "addMany":
      return (await Promise.all(Array.from({ length: 5 }, () => scheduler.addJob(task)))).length;
    case "tick":
      return (await scheduler.tick()).jobsRun;
    case "wake":
      return (await scheduler.nextWakeAt()) !== null;
    case "run":
      return scheduler.runJob(task);
    case "errors":
      return errors.splice(0);
    case "runs":
      return runs;
    case "forget":
      made = null;
      return null;
    default:
      throw new Error(`there is no ${verb}`);
  }
}

export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    const [, how = "", verb = ""] = new URL(request.url).pathname.split("/");
    if (how === "abandon") {
      call(verb, env).catch(() => {});
      return new Response("abandoned");
    }
    try {
      return Response.json(await call(verb, env));
    } catch (error) {
      return new Response(String(error), { status: 500 });
    }
  },
};
