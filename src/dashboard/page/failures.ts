import type { Run } from "./api.ts";
import { isTrouble } from "./verdicts.ts";

/** Failures that are alike: of one schedule (or task), with one error. */
export interface Failures {
  readonly key: string;
  readonly name: string;
  readonly verdict: string;
  /** The message of the newest one. */
  readonly first: string;
  readonly count: number;
  readonly runIds: readonly string[];
  readonly latestId: string;
  readonly since: number;
}

/** A message without what differs from run to run: numbers, ids, addresses. */
function messagePattern(message: string): string {
  return message
    .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/gi, "…")
    .replace(/\b(?=[0-9a-f]*\d)[0-9a-f]{8,}\b/gi, "…")
    .replace(/\d+([.,:]\d+)*/g, "…");
}

/** Groups what did not go well, the latest group first. Runs may come twice. */
export function groupFailures(runs: readonly Run[]): Failures[] {
  const known = new Map<string, Run>();
  for (const run of runs) if (isTrouble(run.state)) known.set(run.id, run);
  const groups = Map.groupBy(known.values(), ({ scheduleId, taskId, state, error }) =>
    JSON.stringify([
      scheduleId ?? taskId,
      state,
      error === null ? "" : error.name,
      messagePattern(error?.message ?? ""),
    ]),
  );
  const failures = [...groups].map(([key, members]) => {
    const sorted = members.sort((a, b) => (b.endedAt ?? 0) - (a.endedAt ?? 0));
    const [latest] = sorted;
    const first =
      latest?.error === null || latest === undefined
        ? saidOf(latest?.state ?? "")
        : `${latest.error.name}: ${latest.error.message}`;
    return {
      key,
      name: latest?.scheduleId ?? latest?.taskId ?? "",
      verdict: latest?.state ?? "error",
      first,
      count: sorted.length,
      runIds: sorted.map(({ id }) => id),
      latestId: latest?.id ?? "",
      since: sorted.at(-1)?.endedAt ?? 0,
      latest: latest?.endedAt ?? 0,
    };
  });
  return failures.sort((a, b) => b.latest - a.latest);
}

function saidOf(state: string): string {
  if (state === "missedStartDeadline") return "It could not start in time";
  return state === "abandoned" ? "It was lost with its process, again and again" : "It failed without an error";
}
