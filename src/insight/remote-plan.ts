import * as v from "valibot";
import { BULK_MS, callContextOf, wireTrigger } from "../client/calls/context.ts";
import { taskIdOf, travelling } from "../client/calls/task-reference.ts";
import { wireOptions } from "../client/wire/options.ts";
import { instant } from "../client/wire/values.ts";
import { instantText } from "../core/temporal.ts";
import { withoutUndefined } from "../core/without-undefined.ts";
import type { SchedulerClient } from "../scheduler/scheduler-client.ts";
import { readDeclarations } from "./declared.ts";
import type { CheckedPlanOptions, Planner } from "./planner.ts";

/** Plans of a scheduler behind a router; null for what is no client of one. */
export function remotePlans(scheduler: SchedulerClient): Planner | null {
  const context = callContextOf(scheduler);
  if (context === undefined) return null;
  const { requester } = context;
  const call = (path: string, body: object, { signal }: CheckedPlanOptions) =>
    ({ method: "POST", path, body: withoutUndefined(body), signal, waitMs: BULK_MS }) as const;
  return {
    async plan(declared, options) {
      const { owner, nextFires } = options;
      const body = { owner, nextFires, declared: await wireDeclarations(declared, owner) };
      return requester.read({ ...call("/plan", body, options), isRepeatable: true }, planSchema());
    },
    async apply(declared, options, revision, by) {
      const { owner } = options;
      const body = { owner, revision, by, declared: await wireDeclarations(declared, owner) };
      await requester.call(call("/apply", body, options));
    },
  };
}

/** Declarations as JSON. */
async function wireDeclarations(declared: unknown, owner: string): Promise<object[]> {
  const bodies: object[] = [];
  for (const { id, task, rule, renamedFrom, given, options, where } of readDeclarations(declared, owner, {})) {
    const { conflictPolicy: _, ...settings } = options;
    const key = await travelling(task, options.payload, options.concurrencyKey);
    bodies.push(
      withoutUndefined({
        ...wireOptions(settings, given),
        ...{ id, task: taskIdOf(task), trigger: wireTrigger(rule, where, options) },
        concurrencyKey: key,
        renamedFrom: renamedFrom ?? undefined,
      }),
    );
  }
  return bodies;
}

const planSchema = () => {
  const text = () => v.pipe(instant(), v.transform(instantText));
  const planned = v.object({
    ...{ id: v.string(), taskId: v.string(), renamedFrom: v.nullable(v.string()), options: v.array(v.string()) },
    ...{ before: v.array(text()), after: v.array(text()) },
  });
  return v.object({
    ...{ owner: v.string(), revision: v.string() },
    ...{ added: v.array(planned), changed: v.array(planned), removed: v.array(planned) },
    unchanged: v.array(v.string()),
    herds: v.array(v.object({ from: instant(), before: v.number(), after: v.number() })),
  });
};
