import { instantOf } from "../../core/temporal.ts";
import { CLOCK_TOLERANCE_MS } from "../../stores/shared/limits.ts";
import type { CommandCall } from "../command.ts";
import { healedFireTime } from "../engine.ts";
import { EXIT } from "../failure.ts";

/** `escapement heal`: takes back schedules that fired, or were added, in the future, by a clock that was wrong. */
export async function run(call: CommandCall): Promise<number> {
  const { out, io } = call;
  const { client, by, dataStore } = await call.target();
  const now = io.clock.now();
  const healed = [];
  for await (const schedule of client.getSchedules({ limit: 1000 })) {
    const { id, trigger, nextFireTime: former } = schedule;
    const times = {
      nextFireTime: former?.epochMilliseconds ?? null,
      lastFireTime: schedule.lastFireTime?.epochMilliseconds ?? null,
      createdAt: schedule.createdAt.epochMilliseconds,
    };
    const healedMs = healedFireTime(times, trigger, { now, toleranceMs: CLOCK_TOLERANCE_MS });
    if (healedMs === null) continue;
    const nextFireTime = instantOf(healedMs);
    healed.push(await client.updateSchedule(id, { nextFireTime }, by));
    if (!out.isJson) out.line(`${id}: fires at ${nextFireTime} instead of ${former ?? "no more"}`);
  }
  // Behind a router, a scheduler that stays takes back what else that clock wrote.
  await dataStore?.ledger?.takeBackAfter(now + CLOCK_TOLERANCE_MS, true);
  if (out.isJson) out.json({ items: healed });
  else if (healed.length === 0) out.line("no schedule has fired, or was added, in the future");
  return EXIT.fine;
}
