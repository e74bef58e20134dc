import { type ClientRequest, get } from "node:http";
import type { Child } from "./child.ts";
import { TOKEN } from "./contestants.ts";

export const CLIENTS = 200;

/** How events happen: so many at once, so many times. */
export interface Burst {
  readonly title: string;
  readonly size: number;
  readonly times: number;
}

export interface StreamFigures {
  /** Events that clients got, a second. */
  readonly perSecond: number;
  /** CPU of the server for an event that a client got, in microseconds. */
  readonly cpuUs: number;
}

/** The end of each event. What a stream begins with has no such end. */
const MARK = "}\n\n";

/** Opens the streams, lets events happen, and waits each time until every client has them, so that none is too slow.
 *  @param onText gets what the first client read */
export async function measureStreams(
  child: Child,
  { size, times }: Burst,
  onText: (text: string) => void,
): Promise<StreamFigures> {
  let wanted = 0;
  let left = CLIENTS;
  let resolveAll = (): void => {};
  const requests: ClientRequest[] = [];
  let first = "";
  const opened: Promise<void>[] = [];
  for (let index = 0; index < CLIENTS; index++) {
    let count = 0;
    let rest = "";
    const request = get(`${child.url}/events`, { agent: false, headers: { authorization: `Bearer ${TOKEN}` } });
    request.on("error", () => {});
    requests.push(request);
    opened.push(
      new Promise((resolve) => {
        request.on("response", (response) => {
          response.on("error", () => {});
          response.setEncoding("latin1");
          response.on("data", (chunk: string) => {
            resolve();
            if (index === 0) first += chunk;
            const text = rest + chunk;
            const before = count;
            for (let found = text.indexOf(MARK); found >= 0; found = text.indexOf(MARK, found + 1)) count++;
            rest = text.slice(1 - MARK.length);
            if (before < wanted && count >= wanted && --left === 0) resolveAll();
          });
        });
      }),
    );
  }
  await Promise.all(opened);
  const burst = async (count: number): Promise<void> => {
    wanted += count;
    left = CLIENTS;
    const all = new Promise<void>((resolve) => {
      resolveAll = resolve;
    });
    await child.publish(count);
    await all;
  };
  for (let warm = 0; warm < times / 5; warm++) await burst(size);
  const cpuBefore = await child.cpuUs();
  const startedAt = performance.now();
  for (let turn = 0; turn < times; turn++) await burst(size);
  const seconds = (performance.now() - startedAt) / 1000;
  const cpuUs = (await child.cpuUs()) - cpuBefore;
  for (const request of requests) request.destroy();
  // Signs of life come every 15 seconds, and numbers begin with another word in each process.
  onText(first.replaceAll(/^: beat\nid: .*\n\n/gm, "").replaceAll(/^id: \w+/gm, "id: "));
  const delivered = CLIENTS * size * times;
  return { perSecond: delivered / seconds, cpuUs: cpuUs / delivered };
}
