import * as api from "./api.ts";
import { hrefOf } from "./hash.ts";
import { many, type Told } from "./parts/basics.tsx";
import { ask, refresh } from "./store.ts";

// What buttons do, wherever they stand. Each answers what to tell, or null for nothing.

async function done(work: Promise<unknown>, told: string): Promise<Told> {
  await work;
  refresh();
  return told;
}

/** @param work what makes a job */
export async function run(work: Promise<api.ShownJob>, told: string): Promise<Told> {
  const job = await work;
  refresh();
  return { text: told, href: hrefOf("runs", job.id) };
}

export const runNow = (id: string): Promise<Told> => run(api.runSchedule(id), `${id} runs now.`);
export const retry = (id: string, changed?: { payload: unknown }): Promise<Told> =>
  run(api.retryJob(id, changed), "It runs once more.");
export const setPaused = (id: string, isPaused: boolean, how: object = {}): Promise<Told> =>
  isPaused ? done(api.pauseSchedule(id, how), `${id} is paused.`) : done(api.unpauseSchedule(id), `${id} goes on.`);
export const setTaskPaused = (id: string, isPaused: boolean, key?: string | null): Promise<Told> =>
  done(
    api.setTaskPaused(id, isPaused, key ?? undefined),
    isPaused ? `The task ${id} is paused: its runs wait.` : `The task ${id} goes on.`,
  );
export const addBlackout = (body: object): Promise<Told> =>
  done(api.addBlackout(body), "It is added: within it, nothing fires.");

export async function remove(id: string): Promise<Told> {
  const text = "It will not fire any more. Jobs that it made stay. This cannot be taken back.";
  if (!(await ask(`Remove ${id}?`, text, "Remove", true))) return null;
  await api.removeSchedule(id);
  location.hash = hrefOf("schedules");
  return `${id} is removed.`;
}

export async function removeBlackout(id: string): Promise<Told> {
  if (!(await ask(`Remove the blackout ${id}?`, "From now on, schedules fire in it again.", "Remove", true)))
    return null;
  return done(api.removeBlackout(id), `The blackout ${id} is removed.`);
}

export async function cancel(id: string, name: string): Promise<Told> {
  const text = "Its handler is told to stop. What it has done stays done.";
  if (!(await ask(`Cancel this run of ${name}?`, text, "Cancel the run", true))) return null;
  return done(api.cancelJob(id), `The run of ${name} is being cancelled.`);
}

const MANY = {
  retry: ["Retry", "will run once more", "Each of them runs once more, with the input that it had."],
  cancel: ["Cancel", "cancelled", "Those that wait do not start; handlers of those that run are told to stop."],
  purge: ["Delete", "deleted", "Their inputs, results, errors and logs go. This cannot be taken back."],
  pause: ["Pause", "paused", "They make no runs until somebody unpauses them."],
  unpause: ["Unpause", "unpaused", "They go on with their next fire time from now."],
  remove: ["Remove", "removed", "They will not fire any more. This cannot be taken back."],
} as const;

/** Does something to many, once somebody has confirmed how many. */
export async function changeMany(action: keyof typeof MANY, which: api.Selection, count: number): Promise<Told> {
  const isAboutRuns = action === "retry" || action === "cancel" || action === "purge";
  const noun = isAboutRuns ? "run" : "schedule";
  const [verb, past, text] = MANY[action];
  const words = `${verb} ${many(count, noun)}`;
  if (!(await ask(`${words}?`, text, words, ["cancel", "purge", "remove"].includes(action)))) return null;
  const report = await (isAboutRuns ? api.bulkJobs(action, which) : api.bulkSchedules(action, which));
  refresh();
  const [first] = report.refusals;
  const why = first === undefined ? "" : ` (${first.id}: ${first.detail})`;
  const others = report.skipped === 0 ? "" : ` ${report.skipped} were passed over${why}.`;
  return `${many(report.count, noun)} ${past}.${others}`;
}
