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
    if (isToAsk && this.#env.store.ledger != null) void this.#ask();
  }

  async #ask(): Promise<void> {
    const { store, logger } = this.#env;
    try {
      const { items } = await store.getSchedules({ limit: 1, cursor: null });
      const scheduleId = this.#known;
      this.#known = items[0]?.id ?? scheduleId;
      if (items.length > 0 || scheduleId === null) return;
      const newest = { scheduleId, order: "newest", limit: 1, after: null } as const;
      const last = await store.ledger?.getScheduleChanges(newest);
      if (last?.items[0]?.kind === "removed") return;
      logger.error(
        `escapement: the schedules are gone from the store ("${scheduleId}" was one), and no call removed them: ` +
          "nothing fires until they are added again; was a table emptied, or an older backup restored? A restart " +
          "adds those that the program declares",
      );
    } catch (error) {
      logger.warn("escapement: it could not be read where the schedules of the store are", error);
    }
  }
}
