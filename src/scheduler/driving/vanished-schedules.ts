import type { Ledger } from "../../stores/contract/ledger-types.ts";
import type { Seen } from "../../stores/data-store.ts";
import type { Environment } from "../environment.ts";

/**
 * Tells of schedules that are gone though nobody removed them by a call, because nothing fires from then on: a table
 * was emptied, or a backup without them was restored. It asks the store only when a look finds no fire time any more.
 */
export class VanishedSchedules {
  readonly #env: Environment;
  /** One of those that the store has. */
  #known: string | null = null;
  #hadFires = false;

  constructor(env: Environment) {
    this.#env = env;
  }

  /** @param seen what a look of all schedules saw */
  looked({ due, nextFireAt }: Pick<Seen, "due" | "nextFireAt">): void {
    this.#known = due[0]?.id ?? this.#known;
    const hasFires = due.length > 0 || nextFireAt !== null;
    const isToAsk = hasFires ? this.#known === null : this.#hadFires;
    this.#hadFires = hasFires;
    const { ledger } = this.#env.store;
    if (isToAsk && ledger != null) void this.#ask(ledger);
  }

  async #ask(ledger: Ledger): Promise<void> {
    const { logger } = this.#env;
    try {
      if (!(await this.#isEmpty()) || this.#known === null) return;
      const { items } = await ledger.getScheduleChanges({
        scheduleId: this.#known,
        order: "newest",
        limit: 1,
        after: null,
      });
      // It may have been removed by a call, and added again meanwhile.
      if (items[0]?.kind === "removed" || !(await this.#isEmpty())) return;
      logger.error(
        `escapement: the schedules are gone from the store ("${this.#known}" was one), and no call removed them: ` +
          "nothing fires until they are added again; was a table emptied, or an older backup restored? A restart " +
          "adds those that the program declares",
      );
    } catch (error) {
      logger.warn("escapement: it could not be read whether the store still has schedules", error);
    }
  }

  async #isEmpty(): Promise<boolean> {
    const { items } = await this.#env.store.getSchedules({ limit: 1, cursor: null });
    this.#known = items[0]?.id ?? this.#known;
    return items.length === 0;
  }
}
