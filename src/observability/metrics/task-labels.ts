import { type Labels, label } from "./families.ts";

/** Most tasks that have a label of their own. Each label is a series of every family, and whoever collects them keeps
 *  every series. */
const LABELLED_TASKS_MAX = 200;

/** The labels of tasks: the first 200 that come have one of their own, and the rest share `other`. */
export class TaskLabels {
  readonly #byTask = new Map<string, Labels>();

  of(taskId: string): Labels {
    const known = this.#byTask.get(taskId);
    if (known !== undefined) return known;
    if (this.#byTask.size >= LABELLED_TASKS_MAX) return OTHER;
    const labels = label("task", taskId);
    this.#byTask.set(taskId, labels);
    return labels;
  }
}

const OTHER = label("task", "other");
