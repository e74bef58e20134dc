import type { OperatedProcess, Operation, OperatorRun } from "./operators.ts";

/**
 * Operators remove schedules, add them again, and give them another rule. What must hold of it the other operations
 * say.
 */
export function changes(run: OperatorRun): Operation {
  const { random } = run;
  const again = (process: OperatedProcess, id: string): void => {
    const options = {
      ...(random.chance(0.5) ? { conflictPolicy: "replace" as const } : {}),
      ...(random.chance(0.2) ? { paused: random.chance(0.5) } : {}),
    };
    run.addSchedule(process, id, random.chance(0.5) ? random.pick([1100, 2600, 5000]) : null, options);
  };
  return {
    weight: 2,
    act: (process) => {
      const id = random.pick(run.scheduleIds);
      const kind = random.pick(["remove", "replace", "replace", "update"] as const);
      if (kind === "replace") again(process, id);
      else if (kind === "update") {
        const change = { coalesce: random.pick(["latest", "earliest", "all"] as const) };
        void run.attempt(process, `updateSchedule ${id}`, (scheduler) => scheduler.updateSchedule(id, change));
      } else {
        void run
          .attempt(process, `removeSchedule ${id}`, (scheduler) => scheduler.removeSchedule(id))
          .then(() => again(process, id));
      }
    },
  };
}
