import { median } from "../store/median.ts";
import { type Echo, type ExecutorContestant, IN_FLIGHT } from "./contestants.ts";

export interface ExecutorFigures {
  /** Microseconds of a call, one after the other: the median. */
  readonly p50Us: number;
  /** Calls a second with 64 in flight. */
  readonly perSecond: number;
  /** Microseconds of processor time a call, of all threads, with 64 in flight. Other processes do not count. */
  readonly cpuUs: number;
}

const WARM_UP = 2000;
const ALONE = 3000;
const TOGETHER = 40_000;

/** One payload among many, of the size of most. */
function payloadOf(number: number): object {
  return { to: "ada@example.org", number, list: [1, 2, 3] };
}

/** One contestant, opened, warmed up, measured and closed. Every answer is compared with what was sent. */
export async function measureExecutor(contestant: ExecutorContestant): Promise<ExecutorFigures> {
  const echo = await contestant.open();
  try {
    await together(echo, WARM_UP);
    await alone(echo, WARM_UP / 2);
    const p50Us = await alone(echo, ALONE);
    const before = process.cpuUsage();
    const startMs = performance.now();
    await together(echo, TOGETHER);
    const seconds = (performance.now() - startMs) / 1000;
    const { user, system } = process.cpuUsage(before);
    return { p50Us, perSecond: TOGETHER / seconds, cpuUs: (user + system) / TOGETHER };
  } finally {
    await echo.close();
  }
}

async function alone(echo: Echo, count: number): Promise<number> {
  const times: number[] = [];
  for (let number = 0; number < count; number++) {
    const payload = payloadOf(number);
    const startMs = performance.now();
    const answer = await echo.call(payload);
    times.push((performance.now() - startMs) * 1000);
    requireSame(answer, number);
  }
  return median(times);
}

/** As many chains as calls may be in flight: each calls again when its call is answered. */
async function together(echo: Echo, count: number): Promise<void> {
  let next = 0;
  const chain = async (): Promise<void> => {
    while (next < count) {
      const number = next++;
      requireSame(await echo.call(payloadOf(number)), number);
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, chain));
}

/** By hand, because a comparison of texts would cost more than what is measured. */
function requireSame(answer: unknown, number: number): void {
  const { to, number: answered, list } = answer as { to: string; number: number; list: readonly number[] };
  if (to === "ada@example.org" && answered === number && list.length === 3 && list[2] === 3) return;
  throw new Error(`call ${number} was answered with ${JSON.stringify(answer)}`);
}
