import { durationText } from "../../core/duration.ts";
import { instantText } from "../../core/temporal.ts";
import type { BlackoutCommands } from "../../scheduler/commands/commands.ts";
import type { CheckedBlackout, CheckedChange } from "../../scheduler/options/checked-options.ts";
import { Blackout } from "../../scheduler/views/blackout.ts";
import { RemoteError } from "../remote-error.ts";
import { blackoutSchema } from "../wire/blackout.ts";
import { pageSchema } from "../wire/pages.ts";
import { type CallContext, placeOf, wireTrigger } from "./context.ts";

/** What a client does with blackouts. */
export class BlackoutCalls implements BlackoutCommands {
  readonly #context: CallContext;

  constructor(context: CallContext) {
    this.#context = context;
  }

  async all(): Promise<Blackout[]> {
    const call = { method: "GET", path: "/blackouts" } as const;
    const { items } = await this.#context.requester.read(call, pageSchema(blackoutSchema()));
    return items.map((record) => new Blackout(record));
  }

  async add(id: string, options: CheckedBlackout): Promise<Blackout> {
    const { from, until, trigger, durationMs, ...same } = options;
    const body = {
      ...{ id, ...same },
      ...(from === undefined ? {} : { from: instantText(from) }),
      ...(until === undefined ? {} : { until: instantText(until) }),
      ...(trigger === undefined ? {} : { trigger: wireTrigger(trigger, "addBlackout()", { id }) }),
      ...(durationMs === undefined ? {} : { duration: durationText(durationMs) }),
    };
    // Whether the id was there before the call, or is there because of it, nobody could tell afterwards.
    const isRepeatable = options.conflictPolicy !== "error";
    const call = { method: "POST", path: "/blackouts", body, about: id, isRepeatable } as const;
    return new Blackout(await this.#context.requester.read(call, blackoutSchema()));
  }

  async remove(id: string, { by }: CheckedChange): Promise<boolean> {
    try {
      await this.#context.requester.call({ method: "DELETE", ...placeOf("blackouts", id), query: { by } });
      return true;
    } catch (error) {
      if (error instanceof RemoteError && error.code === NOT_FOUND) return false;
      throw error;
    }
  }
}

/** The code of the router for a blackout that is not there. */
const NOT_FOUND = "blackoutNotFound";
