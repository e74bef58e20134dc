import { CLOCK_TOLERANCE_MS } from "../../core/limits.ts";
import type { CommandCall } from "../command.ts";
import { EXIT } from "../failure.ts";

/** `escapement heal`: takes back schedules that fired, or were added, in the future, by a clock that was wrong. */
export async function run(call: CommandCall): Promise<number> {
  const { out, io } = call;
  const { client, by } = await call.target();
  const now = io.clock.now();
  const healed = [];
  for await (const schedule of client.getSchedules({ limit: 1000 })) {
    const { id, lastFireTime, createdAt, trigger } = schedule;
    const latest = Math.max(lastFireTime?.epochMilliseconds ?? 0, createdAt.epochMilliseconds);
    if (latest <= now + CLOCK_TOLERANCE_MS) continue;
    const former = schedule.nextFireTime;
    const next = trigger.next(new Date(now));
    if (next === null || (former !== null && former.epochMilliseconds <= next.epochMilliseconds)) continue;
    healed.push(await client.updateSchedule(id, { nextFireTime: next }, by));
    if (!out.isJson) out.line(`${id}: fires at ${next.toInstant()} instead of ${former ?? "no more"}`);
  }
  if (out.isJson) out.json({ items: healed });
  else if (healed.length === 0) out.line("no schedule has fired, or was added, in the future");
  return EXIT.fine;
}
