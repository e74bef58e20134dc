import { Platform } from "./platform.ts";

export const WORKER: URL = new URL("worker.ts", import.meta.url);
export const CLASSES: Readonly<Record<string, string>> = { JOBS: "Jobs", ROWS: "Rows", RECORDER: "Recorder" };

/** The counts of an object, see the Worker. */
export interface Counts {
  readonly results: number;
  readonly schedules: number;
  readonly successes: number;
  readonly unfinished: number;
}

interface StoredRun {
  readonly job: string;
  readonly birth: string;
  readonly ended: number;
}

export interface StormReport {
  readonly counts: Counts;
  /** Jobs that ran more than once. */
  readonly repeated: number;
  /** Jobs that ran twice within one run of the object. There should be none. */
  readonly doubled: readonly string[];
  readonly alarm: number | null;
  readonly aborts: number;
  readonly restarts: number;
}

/** Lets schedules fire once each in an object that is aborted, whose workerd is killed, and whose alarm is deleted and
 *  repeated all the while. */
export async function runStorm({ schedules, spanMs }: { schedules: number; spanMs: number }): Promise<StormReport> {
  await using platform = await Platform.start(WORKER, CLASSES);
  const object = "JOBS/storm";
  const call = <T>(method: string, ...args: unknown[]): Promise<T> => platform.call<T>(object, method, ...args);
  await call("spread", schedules, spanMs);
  const faults: readonly (() => Promise<unknown>)[] = [
    () => call("abort").catch(() => {}),
    () => call("repeatAlarm", 3),
    () => platform.restart(),
    () => call("deleteAlarm").then(() => call("abort").catch(() => {})),
    () => call("failTicks", 1),
  ];
  let aborts = 0;
  let restarts = 0;
  for (let round = 0; ; round++) {
    const { results } = await call<Counts>("counts");
    if (results >= schedules) break;
    const fault = round % faults.length;
    // Each part of the schedules meets each fault.
    if (results < (schedules * (round + 1)) / 25 && round < 20) {
      await call("hurry");
      round--;
      continue;
    }
    await faults[fault]?.();
    if (fault === 0 || fault === 3) aborts++;
    if (fault === 2) restarts++;
    await call("hurry");
  }
  return { ...(await settled(call)), aborts, restarts };
}

type Call = <T>(method: string, ...args: unknown[]) => Promise<T>;

async function settled(call: Call): Promise<Omit<StormReport, "aborts" | "restarts">> {
  for (;;) {
    const counts = await call<Counts>("counts");
    const { alarm } = await call<{ readonly alarm: number | null }>("seen");
    if (counts.unfinished > 0 || alarm !== null) {
      await call("hurry");
      continue;
    }
    const births = new Map<string, string[]>();
    for (const { job, birth } of await call<StoredRun[]>("runs")) births.set(job, [...(births.get(job) ?? []), birth]);
    const repeated = [...births].filter(([, ids]) => ids.length > 1);
    const doubled = repeated.filter(([, ids]) => new Set(ids).size < ids.length).map(([job]) => job);
    return { counts, repeated: repeated.length, doubled, alarm };
  }
}
