import { printAsJSON } from "../core/inspect.ts";
import { instantOf, instantText, type Temporal } from "../core/temporal.ts";

/** A schedule of a plan. Times are the text of instants, which a large plan has hundreds of thousands of. */
export interface PlannedFacts {
  readonly id: string;
  readonly taskId: string;
  readonly renamedFrom: string | null;
  readonly options: readonly string[];
  readonly before: readonly string[];
  readonly after: readonly string[];
}

/** A minute of a plan in which many schedules fire. */
export interface HerdFacts {
  readonly from: number;
  readonly before: number;
  readonly after: number;
}

/** What a plan says, as it travels. */
export interface PlanFacts {
  readonly owner: string;
  readonly revision: string;
  readonly added: readonly PlannedFacts[];
  readonly changed: readonly PlannedFacts[];
  readonly removed: readonly PlannedFacts[];
  readonly unchanged: readonly string[];
  readonly herds: readonly HerdFacts[];
}

/**
 * A schedule that a {@link Plan} adds, changes or removes.
 *
 * @example
 * const { changed } = await plan(scheduler, declared, { owner: "billing" });
 * for (const { id, before, after } of changed) console.log(`${id}: ${before[0]} becomes ${after[0]}`);
 */
export class PlannedSchedule {
  readonly id: string;
  readonly taskId: string;
  /** The id that it has now; null where it keeps its id. */
  readonly renamedFrom: string | null;
  /** The names of the options that change, such as `trigger`; none of a schedule that is added or removed. */
  readonly options: readonly string[];
  readonly #facts: PlannedFacts;

  static {
    printAsJSON(PlannedSchedule.prototype);
  }

  constructor(facts: PlannedFacts) {
    this.id = facts.id;
    this.taskId = facts.taskId;
    this.renamedFrom = facts.renamedFrom;
    this.options = facts.options;
    this.#facts = facts;
  }

  /** Its next fire times as it is stored; none of a schedule that is added. */
  get before(): Temporal.Instant[] {
    return this.#facts.before.map(instantOfText);
  }

  /** Its next fire times after the plan; none of a schedule that is removed. */
  get after(): Temporal.Instant[] {
    return this.#facts.after.map(instantOfText);
  }

  toJSON(): Record<string, unknown> & Pick<PlannedFacts, "before" | "after"> {
    const { id, taskId, renamedFrom, options } = this;
    const { before, after } = this.#facts;
    return { id, taskId, renamedFrom, options, before, after };
  }
}

/**
 * A minute in which a {@link Plan} makes many schedules fire at once.
 *
 * @example
 * for (const { from, before, after } of (await plan(scheduler, declared, { owner: "billing" })).herds) {
 *   console.log(`${from}: ${before} fires, ${after} after the plan`);
 * }
 */
export class PlannedHerd {
  /** How many schedules fire in it now. */
  readonly before: number;
  /** How many fire in it after the plan. */
  readonly after: number;
  readonly #fromMs: number;

  static {
    printAsJSON(PlannedHerd.prototype);
  }

  constructor({ from, before, after }: HerdFacts) {
    this.#fromMs = from;
    this.before = before;
    this.after = after;
  }

  get from(): Temporal.Instant {
    return instantOf(this.#fromMs);
  }

  toJSON(): Record<string, unknown> {
    return { from: instantText(this.#fromMs), before: this.before, after: this.after };
  }
}

/**
 * What {@link plan} answers. It is data, which JSON carries.
 *
 * @example
 * const { added, changed, removed, hasChanges } = await plan(scheduler, declared, { owner: "billing" });
 */
export class Plan {
  /** Whose schedules it is about. */
  readonly owner: string;
  /** Stands for the declarations and the stored schedules that the plan was made of. */
  readonly revision: string;
  /** By id, as the next two. */
  readonly added: readonly PlannedSchedule[];
  /** Schedules that are stored otherwise than they are declared. */
  readonly changed: readonly PlannedSchedule[];
  /** Schedules of the owner that are declared no more. */
  readonly removed: readonly PlannedSchedule[];
  /** The ids of the schedules that are as they are declared. */
  readonly unchanged: readonly string[];
  /** At most 5 minutes of the next day in which 10 schedules or more fire, more than now; the largest first. */
  readonly herds: readonly PlannedHerd[];

  static {
    printAsJSON(Plan.prototype);
  }

  constructor(facts: PlanFacts) {
    const planned = (list: readonly PlannedFacts[]) => list.map((one) => new PlannedSchedule(one));
    this.owner = facts.owner;
    this.revision = facts.revision;
    this.added = planned(facts.added);
    this.changed = planned(facts.changed);
    this.removed = planned(facts.removed);
    this.unchanged = facts.unchanged;
    this.herds = facts.herds.map((herd) => new PlannedHerd(herd));
  }

  /** Whether the plan does anything: the exit code of a check in CI. */
  get hasChanges(): boolean {
    return this.added.length + this.changed.length + this.removed.length > 0;
  }

  /** The same in English. */
  get text(): string {
    return [
      `Plan of ${this.owner}: ${countsOf(this)}.`,
      ...rowsOf(this).flatMap(([sign, one]) => [
        `${sign} ${nameOf(one)}`,
        ...timesOf(one.toJSON()).map((line) => `    ${line}`),
      ]),
      ...this.herds.map((herd) => `! ${herdText(herd)}`),
    ].join("\n");
  }

  /** The same as Markdown, for a comment on a change. */
  get markdown(): string {
    const rows = rowsOf(this).map(([sign, one]) => {
      return `| ${WORDS[sign]} | ${code(nameOf(one))} | ${listOf(one.before)} | ${listOf(one.after)} |`;
    });
    const head = ["| | Schedule | Fired next | Fires next |", "|---|---|---|---|"];
    return [
      `**Plan of ${code(this.owner)}**: ${countsOf(this)}.`,
      ...(rows.length === 0 ? [] : ["", ...head, ...rows]),
      ...(this.herds.length === 0 ? [] : ["", ...this.herds.map((herd) => `- ${herdText(herd)}`)]),
    ].join("\n");
  }

  toJSON(): Record<string, unknown> {
    const { owner, revision, added, changed, removed, unchanged, herds, text } = this;
    const json = (list: readonly { toJSON(): unknown }[]) => list.map((one) => one.toJSON());
    const lists = { added: json(added), changed: json(changed), removed: json(removed) };
    return { owner, revision, ...lists, unchanged, herds: json(herds), text };
  }
}

function instantOfText(text: string): Temporal.Instant {
  return instantOf(Date.parse(text));
}

type Sign = "+" | "~" | "-";

const WORDS: Readonly<Record<Sign, string>> = { "+": "added", "~": "changed", "-": "removed" };

function rowsOf({ added, changed, removed }: Plan): [Sign, PlannedSchedule][] {
  const signed = (sign: Sign, list: readonly PlannedSchedule[]) =>
    list.map((one): [Sign, PlannedSchedule] => [sign, one]);
  return [...signed("+", added), ...signed("~", changed), ...signed("-", removed)];
}

function countsOf({ added, changed, removed, unchanged, hasChanges }: Plan): string {
  const counts = `${added.length} to add, ${changed.length} to change, ${removed.length} to remove`;
  return `${hasChanges ? counts : "nothing to do"}, ${unchanged.length} unchanged`;
}

function nameOf({ id, taskId, renamedFrom, options }: PlannedSchedule): string {
  const former = renamedFrom === null ? "" : ` (now ${renamedFrom})`;
  return `${id}${former}, task ${taskId}${options.length === 0 ? "" : `: ${options.join(", ")}`}`;
}

function timesOf({ before, after }: Pick<PlannedFacts, "before" | "after">): string[] {
  const [now, then] = [before.join(", "), after.join(", ")];
  if (now === then) return [`fires next: ${now === "" ? "never" : now}`];
  return [...(now === "" ? [] : [`now: ${now}`]), ...(then === "" ? [] : [`then: ${then}`])];
}

function herdText({ from, before, after }: PlannedHerd): string {
  return `${after} jobs begin in the minute from ${from} on, of which ${before} do now`;
}

function listOf(times: readonly Temporal.Instant[]): string {
  return times.join("<br>");
}

/** Text of others as code, in which no sign of Markdown counts, and no cell ends. */
function code(text: string): string {
  const shown = text.replaceAll(/\s/g, " ").replaceAll("`", "'").replaceAll("|", "\\|");
  return `\`${shown}\``;
}
