/** One queue of a contestant, empty at first. Payloads are integers. */
export interface JobQueue {
  add(payload: number): Promise<unknown>;
  /** One call for all. */
  addMany(payloads: readonly number[]): Promise<unknown>;
  /** Runs the jobs that were added; `onRun` is called by each job's asynchronous handler. Resolves when the outcome of
   *  `count` jobs is recorded. */
  process(count: number, onRun: (payload: number) => void): Promise<void>;
  /** Stops and disconnects. */
  close(): Promise<void>;
}

export interface QueueSettings {
  /** A folder for files, or the address of the server. */
  readonly address: string;
  /** Distinguishes the queues of one server: lower-case letters and digits. */
  readonly name: string;
  /** Whether finished jobs leave a record behind. */
  readonly isKept: boolean;
}

/** Where a contestant runs: on the Node of the bench, on a later one, on Bun, or in workerd, which Node starts. */
export type BenchRuntime = "node" | "node 24" | "bun" | "workerd";

export interface ContestantFacts {
  readonly name: string;
  readonly runtime: BenchRuntime;
  readonly server: "redis" | "postgres" | "sqld" | null;
  /** What it can do with finished jobs: keep their records, forget them, or either. */
  readonly keeps: "always" | "never" | "either";
  /** Its configuration, in words. */
  readonly configuration: string;
  /** Packages whose versions the report states. */
  readonly packages: readonly string[];
}

export interface Contestant extends ContestantFacts {
  open(settings: QueueSettings): Promise<JobQueue>;
}

/** Loads a peer at run time, so that each process loads its own contestant only and a missing one is reported. What it
 *  offers is described where it is used. */
export async function load<T>(url: string): Promise<T> {
  return (await import(url)) as T;
}

/** A promise, and what resolves it when it has been called `count` times. */
export function countdown(count: number): { readonly done: Promise<void>; readonly tick: () => void } {
  let left = count;
  let resolveDone = (): void => {};
  const done = new Promise<void>((resolve) => {
    resolveDone = resolve;
  });
  return {
    done,
    tick: () => {
      left--;
      if (left === 0) resolveDone();
    },
  };
}

/** Asks until the answer is yes, with short pauses. */
export async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, 5));
}
