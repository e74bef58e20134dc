// Tasks whose payloads have schemas, to the compiler: checked against the packed tarball, never run.
import { defineTasks, Scheduler, type StandardSchemaV1 } from "escapement";
import { z } from "zod";

declare const person: StandardSchemaV1<{ name: string; born: string }, { name: string; born: number }>;

export const tasks = defineTasks({
  greet: { schema: person, handler: ({ name, born }, { attempt }) => `${name} ${born.toFixed()} ${attempt}` },
  later: { schema: person, handler: async (payload, context) => payload.born + context.attempt },
  count: {
    schema: z.object({ name: z.string() }),
    settings: { concurrencyKey: ({ name }) => name },
    handler: ({ name }) => name.length,
  },
  plain: { handler: (value: number) => value + 1 },
  bye: { settings: { retry: { maxAttempts: 3 } }, handler: () => "Bye" },
  elsewhere: { schema: person },
});

export async function main(scheduler: Scheduler): Promise<void> {
  scheduler.use(tasks);
  const ada = { name: "Ada", born: "1815" };
  const text: string = await scheduler.runJob(tasks.greet, { payload: ada });
  const number: number = await scheduler.runJob(tasks.later, { payload: ada });
  const count: number = await scheduler.runJob(tasks.count, { payload: { name: text } });
  const more: number = await scheduler.runJob(tasks.plain, { payload: number + count });
  const bye: string = await scheduler.runJob(tasks.bye);
  await scheduler.addJob(tasks.elsewhere, { payload: { name: bye, born: `${more}` } });
  // @ts-expect-error what is passed is the schema's input, text
  await scheduler.runJob(tasks.greet, { payload: { name: "Ada", born: 1815 } });
  // @ts-expect-error a property is missing
  await scheduler.addJob(tasks.elsewhere, { payload: { name: "Ada" } });
  const task = scheduler.task("born", { schema: person, concurrencyKey: ({ name }) => name }, ({ born }) => born);
  const born: number = await scheduler.runJob(task, { payload: ada });
  new Scheduler({ identity: `${born}` });
}

// @ts-expect-error the payload has no such property
export const wrong = defineTasks({ greet: { schema: person, handler: ({ age }) => age } });
// @ts-expect-error a key is text
export const key = defineTasks({ greet: { schema: person, settings: { concurrencyKey: ({ born }) => born } } });
// @ts-expect-error the handler takes another payload than the schema gives
export const other = defineTasks({ greet: { schema: person, handler: (name: string) => name } });
// @ts-expect-error a setting stands in `settings`
export const part = defineTasks({ greet: { schema: person, timeout: "5m" } });
