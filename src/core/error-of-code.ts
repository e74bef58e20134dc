import {
  BrokenTriggerError,
  ConflictingIdError,
  CronSyntaxError,
  DeserializationError,
  type EscapementError,
  HandlerLookupError,
  type Issue,
  JobAbandonedError,
  JobCancelledError,
  JobDeadlineMissedError,
  JobLookupError,
  JobSkippedError,
  JobSleepError,
  JobTimeoutError,
  LeaseLostError,
  MaxIterationsReachedError,
  NonRetryableError,
  OptionsError,
  PayloadError,
  RevisionConflictError,
  ScheduleLookupError,
  SchedulerStateError,
  SerializationError,
  SkipRun,
  StepError,
  StoreRefusedError,
  StoreUnavailableError,
  TaskLookupError,
  TemporalMissingError,
} from "./errors.ts";

/** What an error has beside its code and its message. */
export interface ErrorFacts {
  readonly cause?: unknown;
  readonly issues?: readonly Issue[] | undefined;
  readonly id?: string | undefined;
  readonly field?: string | null | undefined;
  readonly element?: string | undefined;
  readonly position?: number | undefined;
  readonly suggestion?: string | null | undefined;
}

/** The error of ours with this code, of its own class: for errors that crossed a border as text. Null for a code that
 *  is not ours, and for a `WorkerLostError`, which only executors throw. */
export function errorOfCode(code: string, message: string, facts: ErrorFacts = {}): EscapementError | null {
  const make = Object.hasOwn(byCode, code) ? byCode[code] : undefined;
  return make?.(message, facts) ?? null;
}

type Make = (message: string, facts: ErrorFacts) => EscapementError;

const byCode: Readonly<Record<string, Make>> = {
  options: (message, { issues, cause }) => new OptionsError(message, issues, { cause }),
  cronSyntax: (message, { field = null, element = "", position = 0, suggestion = null }) =>
    new CronSyntaxError(message, { field, element, position, suggestion }),
  maxIterationsReached: (message, { cause }) => new MaxIterationsReachedError(message, { cause }),
  brokenTrigger: (message, { cause }) => new BrokenTriggerError(message, { cause }),
  conflictingId: (message, { id = "" }) => new ConflictingIdError(message, id),
  revisionConflict: (message, { id = "" }) => new RevisionConflictError(message, id),
  taskLookup: (message, { id = "" }) => new TaskLookupError(message, id),
  scheduleLookup: (message, { id = "" }) => new ScheduleLookupError(message, id),
  jobLookup: (message, { id = "" }) => new JobLookupError(message, id),
  handlerLookup: (message, { id = "" }) => new HandlerLookupError(message, id),
  payload: (message, { issues = [] }) => new PayloadError(message, issues),
  serialization: (message, { cause }) => new SerializationError(message, { cause }),
  deserialization: (message, { cause }) => new DeserializationError(message, { cause }),
  jobCancelled: (message, { cause }) => new JobCancelledError(message, { cause }),
  jobDeadlineMissed: (message, { cause }) => new JobDeadlineMissedError(message, { cause }),
  jobTimeout: (message, { cause }) => new JobTimeoutError(message, { cause }),
  jobAbandoned: (message, { cause }) => new JobAbandonedError(message, { cause }),
  jobSkipped: (message, { cause }) => new JobSkippedError(message, { cause }),
  leaseLost: (message, { cause }) => new LeaseLostError(message, { cause }),
  nonRetryable: (message, { cause }) => new NonRetryableError(message, { cause }),
  skipRun: (message, { cause }) => new SkipRun(message, { cause }),
  step: (message, { cause }) => new StepError(message, { cause }),
  jobSleep: (message, { cause }) => new JobSleepError(message, { cause }),
  temporalMissing: (message, { cause }) => new TemporalMissingError(message, { cause }),
  storeUnavailable: (message, { cause }) => new StoreUnavailableError(message, { cause }),
  storeRefused: (message, { cause }) => new StoreRefusedError(message, { cause }),
  schedulerState: (message, { cause }) => new SchedulerStateError(message, { cause }),
};
