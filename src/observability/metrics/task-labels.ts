import { type LabelText, label } from "./families.ts";

/** Most tasks that have a label of their own. Each label is a series of every family, and whoever collects them keeps
 *  every series. */
const LABELLED_TASKS_MAX = 200;

/** The labels of tasks: the first 200 that come have one of their own, and the rest share `other`. They are kept,
 *  because every job needs some of them. */
export class TaskLabels {
  readonly #byTask = new Map<string, Kept>();
  readonly #other = new Kept("other");

  /** The label of a task. */
  of(taskId: string): LabelText {
    return this.#keptOf(taskId).task;
  }

  /** The label of a task with another one. @param value one of a few words */
  with(taskId: string, name: string, value: string): LabelText {
    return this.#keptOf(taskId).with(name, value);
  }

  #keptOf(taskId: string): Kept {
    const known = this.#byTask.get(taskId);
    if (known !== undefined) return known;
    if (this.#byTask.size >= LABELLED_TASKS_MAX) return this.#other;
    const kept = new Kept(taskId);
    this.#byTask.set(taskId, kept);
    return kept;
  }
}

/** The labels of one task. */
class Kept {
  readonly task: LabelText;
  readonly #pairs = new Map<string, LabelText>();

  constructor(taskId: string) {
    this.task = label("task", taskId);
  }

  /** The words of all names are different. */
  with(name: string, value: string): LabelText {
    const known = this.#pairs.get(value);
    if (known !== undefined) return known;
    const pair = `${this.task},${label(name, value)}`;
    this.#pairs.set(value, pair);
    return pair;
  }
}
