import * as api from "./api.ts";
import { hrefOf } from "./hash.ts";
import { ask, refresh } from "./store.ts";

// What buttons do, wherever they stand. Each answers what to tell, or null for nothing.

type Told = Promise<string | { text: string; href: string } | null>;

export async function runNow(id: string): Told {
  const job = await api.runSchedule(id);
  refresh();
  return { text: `${id} runs now.`, href: hrefOf("runs", job.id) };
}

export async function setPaused(id: string, isPaused: boolean, how: object = {}): Told {
  await (isPaused ? api.pauseSchedule(id, how) : api.unpauseSchedule(id));
  refresh();
  return isPaused ? `${id} is paused.` : `${id} goes on.`;
}

export async function remove(id: string): Told {
  const isSure = await ask(
    `Remove ${id}?`,
    "It will not fire any more. Jobs that it made stay. This cannot be taken back.",
    "Remove",
    true,
  );
  if (!isSure) return null;
  await api.removeSchedule(id);
  location.hash = hrefOf("schedules");
  return `${id} is removed.`;
}

export async function cancel(id: string, name: string): Told {
  const isSure = await ask(
    `Cancel this run of ${name}?`,
    "Its handler is told to stop. What it has done stays done.",
    "Cancel the run",
    true,
  );
  if (!isSure) return null;
  await api.cancelJob(id);
  refresh();
  return `The run of ${name} is being cancelled.`;
}

export async function retry(id: string, changed?: { payload: unknown }): Told {
  const job = await api.retryJob(id, changed);
  refresh();
  return { text: "It runs once more.", href: hrefOf("runs", job.id) };
}

export async function retryMany(which: api.Selection, count: number): Told {
  const runs = count === 1 ? "1 run" : `${count.toLocaleString("en")} runs`;
  const text = "Each of them runs once more, with the input that it had.";
  if (!(await ask(`Retry ${runs}?`, text, `Retry ${runs}`))) return null;
  const report = await api.bulkJobs("retry", which);
  refresh();
  return told(report, "will run once more", "run");
}

export async function cancelMany(which: api.Selection, count: number): Told {
  const runs = count === 1 ? "1 run" : `${count.toLocaleString("en")} runs`;
  const text = "Those that wait do not start; handlers of those that run are told to stop.";
  if (!(await ask(`Cancel ${runs}?`, text, `Cancel ${runs}`, true))) return null;
  const report = await api.bulkJobs("cancel", which);
  refresh();
  return told(report, "cancelled", "run");
}

export async function changeMany(action: "pause" | "unpause" | "remove", which: api.Selection, count: number): Told {
  const many = count === 1 ? "1 schedule" : `${count.toLocaleString("en")} schedules`;
  const verb = { pause: "Pause", unpause: "Unpause", remove: "Remove" }[action];
  const text =
    action === "remove"
      ? "They will not fire any more. This cannot be taken back."
      : action === "pause"
        ? "They make no runs until somebody unpauses them."
        : "They go on with their next fire time from now.";
  if (!(await ask(`${verb} ${many}?`, text, `${verb} ${many}`, action === "remove"))) return null;
  const report = await api.bulkSchedules(action, which);
  refresh();
  return told(report, { pause: "paused", unpause: "unpaused", remove: "removed" }[action], "schedule");
}

function told({ count, skipped, refusals }: api.BulkReport, done: string, noun: string): string {
  const [first] = refusals;
  const left =
    skipped === 0 ? "" : ` ${skipped} were passed over${first === undefined ? "" : ` (${first.id}: ${first.detail})`}.`;
  return `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"} ${done}.${left}`;
}

export async function setTaskPaused(id: string, isPaused: boolean): Told {
  await api.setTaskPaused(id, isPaused);
  refresh();
  return isPaused ? `The task ${id} is paused: its runs wait.` : `The task ${id} goes on.`;
}
