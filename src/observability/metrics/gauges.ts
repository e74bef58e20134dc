import type { ScheduleCounts, StoreInspection } from "../../stores/data-store.ts";
import { gaugeText, type Labels, label } from "./families.ts";
import type { TaskLabels } from "./task-labels.ts";

/** What a look at the store found out, as gauges. `inspection` is null for a store that did not answer: then nothing
 *  but that is known. */
export function gaugesText(inspection: StoreInspection | null, now: number, tasks: TaskLabels): string {
  const up = gaugeText(
    "escapement_store_up",
    "Whether the data store answers: 1 or 0.",
    new Map([["", inspection === null ? 0 : 1]]),
  );
  if (inspection === null) return up;
  const { oldestDueJob, schedules, alarms } = inspection;
  const oldestDueMs = oldestDueJob === null ? 0 : Math.max(0, now - oldestDueJob.runAt);
  const parts = [
    up,
    gaugeText("escapement_jobs", "Unfinished jobs of the store, by what they do.", jobsByState(inspection, tasks)),
    gaugeText(
      "escapement_oldest_due_job_seconds",
      "How long the job waits that has been due for the longest time; 0 when none is due.",
      new Map([["", oldestDueMs / 1000]]),
    ),
    gaugeText(
      "escapement_occurrences_overdue",
      "Occurrences that have not started or not ended in time, and still have not.",
      new Map([["", alarms?.count ?? 0]]),
    ),
    ...(schedules === undefined ? [] : scheduleGauges(schedules)),
  ];
  return parts.join("");
}

function jobsByState({ tasks: backlog }: StoreInspection, tasks: TaskLabels): ReadonlyMap<Labels, number> {
  const counts = new Map<Labels, number>();
  for (const { taskId, waiting, running, held = 0 } of backlog) {
    const task = tasks.of(taskId);
    const byState = { queued: waiting - held, held, running };
    for (const [state, count] of Object.entries(byState)) {
      const labels = `${task},${label("state", state)}`;
      counts.set(labels, (counts.get(labels) ?? 0) + count);
    }
  }
  return counts;
}

function scheduleGauges({ active, paused, ended, overdue }: ScheduleCounts): string[] {
  const byState = Object.entries({ active, paused, ended });
  return [
    gaugeText(
      "escapement_schedules",
      "Schedules of the store, by state.",
      new Map(byState.map(([state, count]) => [label("state", state), count])),
    ),
    gaugeText("escapement_schedules_overdue", "Schedules that are due and have not fired.", new Map([["", overdue]])),
  ];
}
