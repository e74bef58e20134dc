import { load } from "../store/contestant.ts";
import type { Child, ServerKind } from "./child.ts";
import { type Recorded, TOKEN } from "./contestants.ts";
import { at, type HttpRequest, type HttpRow, LENGTH, ROWS } from "./rows.ts";

type Autocannon = (options: object) => {
  on(event: "response", listener: (client: unknown, status: number) => void): void;
  on(event: "reqError", listener: (error: Error) => void): void;
};

export interface RowFigures {
  readonly perSecond: number;
  /** CPU of the server for a request, in microseconds. */
  readonly cpuUs: number;
}

const CONNECTIONS = 10;
/** Of each row, before it is measured. */
const WARM_UP = 0.4;

/** Null where the contestant has no such route. @throws {Error} for an answer that is no success */
export async function measureRow(child: Child, kind: ServerKind, row: HttpRow): Promise<RowFigures | null> {
  const request = kind === "bull-board" ? row.bullBoard : row.escapement;
  if (request === null) return null;
  await shoot(child, request, row.amount * WARM_UP);
  const cpuBefore = await child.cpuUs();
  const { seconds } = await shoot(child, request, row.amount);
  const cpuUs = (await child.cpuUs()) - cpuBefore;
  return { perSecond: row.amount / seconds, cpuUs: cpuUs / row.amount };
}

/** Ends with the last answer, because autocannon itself ends with the second in which that came. */
async function shoot(child: Child, { method, path, body }: HttpRequest, amount: number): Promise<{ seconds: number }> {
  const { default: autocannon } = await load<{ default: Autocannon }>(import.meta.resolve("autocannon"));
  const startedAt = performance.now();
  const shots = autocannon({
    url: `${child.url}${path}`,
    ...{ method, amount, connections: CONNECTIONS, headers: HEADERS },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  let left = amount;
  await new Promise<void>((resolve, reject) => {
    shots.on("reqError", reject);
    shots.on("response", (_, status) => {
      if (status >= 300) reject(new Error(`${method} ${path}: answered with status ${status}`));
      if (--left === 0) resolve();
    });
  });
  return { seconds: (performance.now() - startedAt) / 1000 };
}

const HEADERS = { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" };

async function answerTo(child: Child, { method, path, body }: HttpRequest): Promise<Recorded> {
  const content = body === undefined ? {} : { body: JSON.stringify(body) };
  const answer = await fetch(`${child.url}${path}`, { method, headers: HEADERS, ...content });
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
  const type = answer.headers.get("content-type") ?? "";
  return { method, path, status: answer.status, type, text: await answer.text() };
}

/** What a contestant answers to each row, one after the other. */
export async function record(child: Child): Promise<Recorded[]> {
  const answers: Recorded[] = [];
  for (const { escapement } of ROWS) answers.push(await answerTo(child, escapement));
  return answers;
}

/** @throws {Error} where a server answers other bytes than were recorded */
export async function requireSameText(child: Child, answers: readonly Recorded[]): Promise<void> {
  const again = await record(child);
  for (const [index, answer] of answers.entries()) {
    if (JSON.stringify(again[index]) === JSON.stringify(answer)) continue;
    throw new Error(`${answer.method} ${answer.path}: plain Hono answers something else`);
  }
}

/** Whether the lists of bull-board have the same payloads as those of Escapement, in any order. */
export async function requireSamePayloads(board: Child, answers: readonly Recorded[]): Promise<void> {
  for (const [index, { title, bullBoard, listOf }] of ROWS.entries()) {
    if (listOf === undefined || bullBoard === null) continue;
    const ours = payloadsOf(answers[index]?.text ?? "", listOf.escapement);
    const theirs = payloadsOf((await answerTo(board, bullBoard)).text, listOf.bullBoard);
    if (ours.length === LENGTH && ours.join() === theirs.join()) continue;
    throw new Error(`${title}: the payloads differ, of ${ours.length} items here and ${theirs.length} of bull-board`);
  }
}

function payloadsOf(text: string, { items, payload }: NonNullable<HttpRow["listOf"]>["escapement"]): string[] {
  const list = at(JSON.parse(text), items) as readonly unknown[];
  return list
    .map((item) => at(item, payload))
    .map((value) => (typeof value === "string" ? value : JSON.stringify(value)))
    .sort();
}
