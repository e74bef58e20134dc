import type { ExplainedVerdict, PauseCause } from "../views/explanation.ts";
import type { CauseFacts } from "./cause.ts";
import { type Finding, isRunning } from "./finding.ts";
import { clockText, lengthText, timeOfDay } from "./words.ts";

/** What the sentences about a verdict need. */
export interface VerdictFacts {
  readonly scheduleId: string;
  readonly taskId: string;
  readonly timeZone: string;
  readonly now: number;
  readonly verdict: ExplainedVerdict;
  readonly cause: CauseFacts | null;
  /** Null where there is no fire time. */
  readonly finding: Finding | null;
  readonly hasLedger: boolean;
}

/** What became of it, in a sentence. */
export function verdictText(told: VerdictFacts): string {
  const { verdict, finding, cause, now } = told;
  switch (verdict) {
    case "success":
      return `ran. ${runText(finding)}`;
    case "error":
      return `ran and failed. ${runText(finding)}`;
    case "misfired":
      return `misfired: it could not start within misfireGraceTime. ${runText(finding)}`;
    case "deserializationFailed":
      return `failed: its payload could not be read. ${runText(finding)}`;
    case "cancelled":
      return `cancelled${cause?.kind === "policy" ? " by the next fire time" : ""}. ${runText(finding)}`;
    case "declined":
      return `declined: its handler had nothing to do. ${runText(finding)}`;
    case "abandoned":
      return `abandoned: it was lost with its process too often. ${runText(finding)}`;
    case "coalesced":
      return `coalesced: several fire times came before any started, and one job, of ${into(told)}, stands for them.`;
    case "paused":
      return finding?.skip === null
        ? "paused: no job is made of it while the schedule is paused."
        : "paused: the schedule was paused, and went on after it.";
    case "tooOld":
      return "too old: it was due for longer than catchUp.maxAge when somebody could make up for it.";
    case "overCount":
      return "left out: more fire times were due than catchUp.maxCount makes up for.";
    case "overlapSkipped":
      return 'skipped: an earlier run of the schedule was unfinished (overlap "skip").';
    case "blackedOut":
      return finding?.skip?.into == null
        ? "blacked out: it lay within a blackout, and made no job."
        : `blacked out: it lay within a blackout, and the job of ${into(told)}, at its end, stands for it.`;
    case "replaced":
      return finding?.skip?.into == null
        ? "replaced: it was due and unprocessed when the schedule was changed."
        : `replaced: its waiting job gave way to that of ${into(told)}.`;
    case "removed":
      return "removed: it was due and unprocessed when the schedule was removed.";
    case "waiting":
      return waitingText(finding, now);
    case "upcoming":
      return cause === null
        ? `upcoming: it will fire in ${lengthText((finding?.fireTime ?? now) - now)}.`
        : "upcoming, but nothing will run if all stays as it is.";
    case "unrecorded":
      return "unrecorded: nothing is known of it.";
    case "excluded":
      return "excluded: the rule leaves it out.";
    case "skippedGap":
      return "skipped: the rule does not fire at times that clocks go over.";
    case "outside":
      return `no fire time${cause === null ? "" : `: ${OUTSIDE[cause.kind] ?? "the schedule had passed it"}`}.`;
    case "noFireTime":
      return "no fire time: the rule does not fire then.";
    default:
      return verdict satisfies never;
  }
}

const OUTSIDE: Readonly<Record<string, string>> = {
  added: "the schedule was added later",
  removed: "the schedule had been removed",
  changed: "the next fire time was set to a later one",
  clockAhead: "the schedule fired in the future",
  bounds: "it lies beyond the rule",
};

function into({ finding, timeZone }: VerdictFacts): string {
  const target = finding?.skip?.into ?? null;
  return target === null ? "another fire time" : clockText(target, timeZone);
}

function runText(finding: Finding | null): string {
  const run = finding?.run ?? null;
  if (run === null) return "";
  const { jobId, startedAt, finishedAt, scheduledFireTime: due, attempts } = run;
  const late = Math.max(0, (startedAt ?? finishedAt) - due);
  const parts = [
    startedAt === null ? "never started" : late === 0 ? "on time" : `${lengthText(late)} late`,
    ...(startedAt === null ? [] : [`took ${lengthText(Math.max(0, finishedAt - startedAt))}`]),
    attemptsText(attempts),
  ];
  return `Job ${jobId}, ${parts.join(", ")}.`;
}

function waitingText(finding: Finding | null, now: number): string {
  const job = finding?.job ?? null;
  if (job === null) return "waiting: nobody has processed it yet.";
  if (!isRunning(job)) return `waiting: job ${job.id} is to run.`;
  const isLive = (job.acquiredUntil ?? 0) > now;
  return isLive ? `running: job ${job.id}, by ${job.acquiredBy}.` : `waiting: job ${job.id} lost its process.`;
}

/** Why it is so, in a sentence; null where the verdict says all. */
export function causeText({ cause, timeZone, finding }: VerdictFacts): string | null {
  const when = (at: number | null): string => (at === null ? "" : ` at ${clockText(at, timeZone)}`);
  // A name is on one line, because the lines of the text mean something.
  const by = (name: string | null): string => (name === null ? "" : ` by ${inOneLine(name)}`);
  const pauseText = ({ by: who, at, until, reason }: PauseCause<number>): string =>
    `${by(who)}${when(at)}${until === null ? "" : `, until ${clockText(until, timeZone)}`}` +
    `${reason === null ? "." : `: ${inOneLine(reason)}`}`;
  if (cause === null) return null;
  switch (cause.kind) {
    case "nobodyUp": {
      const who = cause.lacks === "scheduler" ? "no scheduler that fires schedules" : "no scheduler that runs jobs";
      const since = cause.from === null ? "" : ` from ${clockText(cause.from, timeZone)}`;
      const until = cause.until === null ? "now" : clockText(cause.until, timeZone);
      return `${who} was up${since} until ${until}.`;
    }
    case "clockAhead":
      return `the clock of a scheduler was ahead${when(cause.at)}.`;
    case "noHandler":
      return `schedulers were up, but none had a handler for task "${cause.taskId}".`;
    case "noSlot":
      return (
        `the job waited for a place: task "${cause.taskId}" was at its limit, ` +
        "or its schedulers were busy or paused."
      );
    case "blocked":
      return cause.concurrencyKey === null
        ? "the limits of the task blocked the job."
        : `the limits of the task blocked the job, whose concurrency key is "${cause.concurrencyKey}".`;
    case "sleeps":
      return cause.step === null
        ? `the handler put the job off until ${clockText(cause.until, timeZone)}.`
        : `the job sleeps in step "${cause.step.replace(/\p{Cc}+/gu, " ")}" until ${clockText(cause.until, timeZone)}.`;
    case "taskPaused":
      return `${cause.key === null ? "the task" : `the key "${cause.key}" of the task`} was paused${pauseText(cause)}`;
    case "schedulePaused":
      return `the schedule was paused${pauseText(cause)}`;
    case "blackout": {
      if (cause.id === null) return "the blackout is not there any more, or is another one now.";
      const until = cause.until === null ? "" : `, until ${clockText(cause.until, timeZone)}`;
      const why = cause.reason === null ? "." : `: ${inOneLine(cause.reason)}`;
      const ends = cause.missed === "runOnce" ? "; one job for all such fire times runs at its end" : "";
      return `it lies within blackout "${cause.id}"${by(cause.by)}${until}${ends}${why}`;
    }
    case "triggerFailed":
      return `the trigger of the schedule failed${when(cause.at)}, which paused the schedule.`;
    case "added":
      return `the schedule was added${by(cause.by)}${when(cause.at)}.`;
    case "changed":
      return `the schedule was changed${by(cause.by)}${when(cause.at)}.`;
    case "removed":
      return `the schedule was removed${by(cause.by)}${when(cause.at)}.`;
    case "unfinishedRun": {
      if (cause.jobId === null) return "an earlier run was unfinished.";
      const ofTime = cause.fireTime === null ? "" : `, of ${clockText(cause.fireTime, timeZone)},`;
      return `job ${cause.jobId}${ofTime} was unfinished.`;
    }
    case "policy":
      return `the schedule's ${cause.option} decided so.`;
    case "error":
      if (cause.name === null) return "the error is not kept any more.";
      return `${cause.name}${cause.code === null ? "" : ` [${cause.code}]`}: ${cause.message}`;
    case "declined":
      return cause.reason === null ? "the reason is not known." : `${cause.reason.replace(/\p{Cc}+/gu, " ")}`;
    case "backfill":
      return `backfill ${cause.backfillId} made up for it.`;
    case "retried":
      return retriedText(cause.attempts, finding ?? { run: null, job: null }, timeZone);
    case "lost":
      return (
        `its process was lost${cause.attempts > 1 ? `, in each of ${cause.attempts} attempts` : ""}` +
        `${cause.message === null ? "" : `: ${inOneLine(cause.message)}`}.`
      );
    case "bounds":
      return boundsText(cause.bound, cause.at === null ? null : clockText(cause.at, timeZone));
    case "ledger":
      return LEDGER_TEXTS[cause.reason];
    default:
      return cause satisfies never;
  }
}

function inOneLine(text: string): string {
  return text.replace(/\p{Cc}+/gu, " ");
}

function boundsText(bound: "start" | "end", at: string | null): string {
  const [does, which] = bound === "start" ? ["begins later", "first"] : ["had ended", "last"];
  return `the rule ${does}${at === null ? "" : `, ${at} being its ${which} fire time`}.`;
}

function retriedText(attempts: number, { run, job }: Pick<Finding, "run" | "job">, timeZone: string): string {
  if (run === null) {
    const at = job === null ? "" : ` at ${clockText(job.runAt, timeZone)}`;
    return `${attemptsText(attempts)} failed, and the next one is to come${at}.`;
  }
  const lastAt = timeOfDay(run.startedAt ?? run.finishedAt, timeZone);
  return `it took ${attemptsText(attempts)}; the last one began at ${lastAt}.`;
}

function attemptsText(count: number): string {
  return `${count} attempt${count === 1 ? "" : "s"}`;
}

const LEDGER_TEXTS = {
  notKept: "the store kept no ledger of that time.",
  removed: "the clean-up has removed the entry.",
  unknown: "the ledger has no entry, as after a job that a process without a ledger finished.",
} as const;

/** What to change, so that it does not happen again; null when nothing went wrong. */
export function adviceText(told: VerdictFacts): string | null {
  const parts = [causeAdvice(told), verdictAdvice(told)].filter((part) => part !== null);
  return parts.length === 0 ? null : parts.join(" ");
}

function causeAdvice({ scheduleId, taskId, verdict, cause, finding, hasLedger }: VerdictFacts): string | null {
  const isPresent = verdict === "waiting" || verdict === "upcoming" || (verdict === "paused" && finding?.skip === null);
  switch (cause?.kind) {
    case "nobodyUp":
      return cause.until === null
        ? `Start a scheduler whose role is "both" or "${cause.lacks}".`
        : "Keep two schedulers up; expectStartWithin tells you at once when none is.";
    case "clockAhead":
      return "Keep clocks right (NTP); escapement heal takes back schedules that wait for such a clock.";
    case "noHandler":
      return `Register the task where jobs run: scheduler.task("${cause.taskId}", handler).`;
    case "noSlot":
      return `If another run hangs, give its task a timeout; else ${PLACE_ADVICE}`;
    case "blocked":
      return "maxRunningPerKey, rateLimit and fair of the task decide how long a job is blocked.";
    case "taskPaused":
      return isPresent ? `unpauseTask("${taskId}"${keyText(cause.key)}) lets it go on.` : null;
    case "schedulePaused":
      return isPresent
        ? `unpauseSchedule("${scheduleId}") lets it go on.`
        : "unpauseSchedule(id) without resumeFrom makes up for the fire times of a pause.";
    case "blackout":
      return isPresent && cause.id !== null ? `removeBlackout(${JSON.stringify(cause.id)}) lets it fire.` : null;
    case "triggerFailed":
      return `Mend the trigger, then unpauseSchedule("${scheduleId}").`;
    case "unfinishedRun":
      return verdict === "waiting"
        ? `${TIMEOUT_ADVICE}; else ${PLACE_ADVICE}`
        : `${TIMEOUT_ADVICE}; else make the runs shorter than the time between two fire times; or overlap: "queue" ` +
            "lets them wait.";
    case "error":
      if (cause.name === null) return "A longer failureExpirationTime keeps errors for longer.";
      return finding?.run == null ? null : `retryJob("${finding.run.jobId}") runs it again.`;
    case "lost":
      return "Find out what ended the processes: memory, a crash, a deploy without stop().";
    case "ledger":
      if (cause.reason === "removed") return "The ledger option of the store says how many entries are kept.";
      return cause.reason === "notKept" && !hasLedger ? "Turn the ledger option of the store on." : null;
    default:
      return null;
  }
}

function verdictAdvice({ scheduleId, verdict, cause, now }: VerdictFacts): string | null {
  switch (verdict) {
    case "coalesced":
      return 'coalesce: "all" makes a job for each fire time.';
    case "tooOld":
      return "A longer catchUp.maxAge makes up for older fire times.";
    case "overCount":
      return "A higher catchUp.maxCount makes up for more.";
    case "misfired":
      return "A longer misfireGraceTime lets it start later.";
    case "replaced":
      return cause?.kind === "policy" ? 'overlap: "queue" lets runs wait instead.' : null;
    case "cancelled":
      return cause?.kind === "policy" ? 'overlap: "queue" lets runs end.' : null;
    case "skippedGap":
      return 'dst: { gap: "advance" } fires such times when the clocks have changed.';
    case "outside": {
      const hasEnded = cause?.kind === "bounds" && cause.bound === "end" && (cause.at ?? now) <= now;
      return hasEnded ? `updateSchedule("${scheduleId}", { trigger }) gives it a rule that goes on.` : null;
    }
    default:
      return null;
  }
}

const PLACE_ADVICE = "a higher maxRunningJobs, or more schedulers, give the job a place.";
const TIMEOUT_ADVICE = "If it hangs, give its task a timeout, because more workers do not help";

function keyText(key: string | null): string {
  return key === null ? "" : `, { key: ${JSON.stringify(key)} }`;
}
