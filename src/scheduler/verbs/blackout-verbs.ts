import { StoreRefusedError } from "../../core/errors.ts";
import { optionError } from "../../core/option-errors.ts";
import type { BlackoutRecord } from "../../records/blackout.ts";
import { BLACKOUTS_MAX } from "../../stores/shared/limits.ts";
import type { BlackoutCommands } from "../commands/commands.ts";
import { blackoutAdded, blackoutRemoved } from "../events/event-records.ts";
import { checkTrigger } from "../options/check-options.ts";
import type { CheckedBlackout, CheckedChange } from "../options/checked-options.ts";
import { Blackout } from "../views/blackout.ts";
import { idInUse } from "./schedule-additions.ts";
import type { VerbContext } from "./verb-context.ts";

/** What a scheduler does with blackouts. */
export class BlackoutVerbs implements BlackoutCommands {
  readonly #context: VerbContext;

  constructor(context: VerbContext) {
    this.#context = context;
  }

  async all(): Promise<Blackout[]> {
    await this.#context.ready();
    return (await this.#context.env.store.getBlackouts()).items.map((record) => new Blackout(record));
  }

  async add(id: string, options: CheckedBlackout): Promise<Blackout> {
    const { env, ready } = this.#context;
    const where = "addBlackout()";
    const asked = this.#recordOf(id, options, where);
    await ready();
    const { conflictPolicy } = options;
    const { change, blackout } = await env.store.addBlackout({ blackout: asked, conflictPolicy });
    if (change === "conflict") throw idInUse("blackout", id);
    if (change === "full") {
      throw new StoreRefusedError(`there are ${BLACKOUTS_MAX} blackouts, and a store takes no more; remove some`);
    }
    if (change !== "kept") {
      env.events.publish([blackoutAdded(env, blackout)]);
      env.logger.info(`escapement: blackout "${id}" is ${change}${blackout.by === null ? "" : ` by ${blackout.by}`}`);
    }
    return new Blackout(blackout);
  }

  async remove(id: string, { by = this.#context.env.identity }: CheckedChange): Promise<boolean> {
    const { env, ready } = this.#context;
    await ready();
    const removed = await env.store.removeBlackout(id);
    if (removed === null) return false;
    env.events.publish([blackoutRemoved(env, id, by)]);
    env.logger.info(`escapement: blackout "${id}" is removed by ${by}`);
    return true;
  }

  /** @throws {OptionsError} for a trigger that never fires */
  #recordOf(id: string, options: CheckedBlackout, where: string): BlackoutRecord {
    const { clock, identity } = this.#context.env;
    const { from = null, until = null, trigger: rule, durationMs = null, by = identity } = options;
    const now = clock.now();
    const trigger = rule === undefined ? null : checkTrigger(rule, where, this.#context.inherited.timeZone, { id });
    if (trigger !== null && trigger.firstMs(now) === null) {
      throw optionError(where, "trigger", "has no fire time to come, so that no blackout would begin");
    }
    return {
      ...{ id, from, until, trigger: trigger === null ? null : JSON.stringify(trigger.startingAtMs(now)), durationMs },
      ...{ labels: options.labels ?? null, taskIds: options.taskIds ?? null, missed: options.missed },
      ...{ reason: options.reason ?? null, by, createdAt: now },
    };
  }
}
