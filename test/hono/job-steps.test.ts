import { expect, test } from "vitest";
import { drain } from "../../src/testing/mod.ts";
import { bearer, READ, WRITE } from "./auth/support.ts";
import { setUpRouter } from "./support.ts";

test("the values of steps are for callers who may write, after redaction", async () => {
  const { ask, scheduler } = setUpRouter({
    auth: {
      tokens: [
        { token: READ, scope: "read" },
        { token: WRITE, scope: "write" },
      ],
    },
    redact: (value, { field, taskId }) => (field === "step" && value === "card" ? `${taskId}: hidden` : value),
  });
  const task = scheduler.task("t", async (_: undefined, { step }) => {
    await step.run("a", () => "card");
    await step.run("b", async ({ save }) => {
      await save(7);
      throw new Error("no");
    });
  });
  const { id } = await scheduler.addJob(task);
  await drain(scheduler);
  const shownTo = async (token: string): Promise<unknown> => {
    const { body } = await ask(`GET /jobs/${id}`, undefined, bearer(token));
    return (body as { steps: Record<string, unknown>[] }).steps.map(({ name, state, value, cursor }) => [
      ...[name, state, value ?? null, cursor ?? null],
    ]);
  };
  expect(await shownTo(WRITE)).toEqual([
    ["a", "ended", "t: hidden", null],
    ["b", "open", null, 7],
  ]);
  expect(await shownTo(READ)).toEqual([
    ["a", "ended", null, null],
    ["b", "open", null, null],
  ]);
});
