import type { AuditRecord } from "../../src/records/ledger.ts";
import type { ScheduleRecord } from "../../src/records/schedule.ts";
import type { Ledger } from "../../src/stores/contract/ledger-types.ts";
import type { History } from "./history.ts";

/** More changes than this are not kept of a schedule. */
const KEPT_MAX = 100;
/** A ledger that keeps so many entries keeps them long enough for a run. */
const ENTRIES_MIN = 1000;

/** What stores and planners write for themselves, and what no ledger tells. */
const UNTOLD: ReadonlySet<string> = new Set([
  "triggerRule",
  "createdAt",
  "lastFireTime",
  "paceUntil",
  "zoneRules",
  "fence",
  "revision",
  "skippedCount",
  "pausedBy",
  "declaration",
  "version",
]);

/** Who changed each schedule, and when, in the order in which the store took it. */
export class ChangeModel {
  readonly #history: History;
  readonly #byId = new Map<string, string[]>();

  constructor(history: History) {
    this.#history = history;
  }

  onChange(before: ScheduleRecord | null, after: ScheduleRecord | null, { at, by }: AuditRecord): void {
    const { id } = (after ?? before) as ScheduleRecord;
    if (toldOf(before) === toldOf(after)) return;
    const changes = this.#byId.get(id) ?? [];
    this.#byId.set(id, changes);
    changes.push(lineOf(at, by, before, after));
    this.#history.count("changes");
  }

  async check(ledger: Ledger): Promise<void> {
    if (ledger.limits.countMax < ENTRIES_MIN) return;
    for (const [scheduleId, changes] of this.#byId) {
      const { items: stored } = await ledger.getScheduleChanges({
        scheduleId,
        order: "oldest",
        limit: 1000,
        after: null,
      });
      const told = stored.map(({ at, by, before, after }) => lineOf(at, by, before, after));
      const expected = changes.slice(-KEPT_MAX);
      const index = expected.findIndex((line, place) => line !== told[place]);
      if (index === -1 && expected.length === told.length) continue;
      const place = index === -1 ? expected.length : index;
      this.#history.violate(
        `change ${place} of schedule ${scheduleId} is ${told[place]} in the ledger, not ${expected[place]}`,
      );
    }
  }
}

type State = Pick<
  ScheduleRecord,
  "nextFireTime" | "paused" | "pausedUntil" | "pauseReason" | "trigger" | "taskId"
> | null;

function lineOf(at: number, by: string | null, before: State, after: State): string {
  return `by ${by} at ${at}: from ${stateOf(before)} to ${stateOf(after)}`;
}

function stateOf(state: State): string {
  if (state === null) return "nothing";
  const { trigger, taskId, nextFireTime, paused, pausedUntil, pauseReason } = state;
  const pause = `${paused ? ", paused" : ""}${textOf("until", pausedUntil)}${textOf("because of", pauseReason)}`;
  return `${trigger} of ${taskId}, next ${nextFireTime}${pause}`;
}

function textOf(name: string, value: number | string | undefined): string {
  return value === undefined ? "" : ` ${name} ${value}`;
}

/** The same text where a ledger sees no change. */
function toldOf(schedule: ScheduleRecord | null): string {
  if (schedule === null) return "";
  const told = Object.entries(schedule).filter(([name, value]) => !UNTOLD.has(name) && value !== undefined);
  return JSON.stringify(told.sort(([a], [b]) => (a < b ? -1 : 1)));
}
