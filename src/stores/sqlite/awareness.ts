/**
 * Whether a store's steps and looks heed flow control: keys, rates, turns and pauses. They do so from the moment at
 * which the store sees that something in its database needs it, because all that costs as much as the rest of a step.
 *
 * Nothing goes wrong before that moment. Statements that do not heed flow control touch no job of a task with limits,
 * no job with a concurrency key, and no job that others wait for.
 */
export interface Awareness {
  isAware: boolean;
}
