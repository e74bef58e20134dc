import { READ, WRITE } from "../auth/support.ts";
import type { Draft } from "./requests.ts";

const LEAKS: Readonly<Record<string, RegExp>> = {
  stack: /\n\s+at |\bat \S+ \(|[\w-]+\.[cm]?[jt]s:\d+|node_modules/,
  sql: /\bSELECT\b.+\bFROM\b|INSERT INTO|\bUPDATE \w+ SET\b|DELETE FROM|SQLITE|PRAGMA|constraint failed|no such table/,
  token: new RegExp(`${READ}|${WRITE}`),
};

const STACK_OF_JOB = /"stack":"(?:[^"\\]|\\.)*"/g;

/** What no text that leaves the router may have: parts of stacks, of SQL, and tokens. */
export function leaksIn(text: string): string[] {
  return Object.entries(LEAKS)
    .filter(([, pattern]) => pattern.test(text))
    .map(([name]) => name);
}

/** What is wrong with an answer, whatever was asked; nothing, when all is well. */
export async function faultsOf(draft: Draft, answer: Response): Promise<string[]> {
  const { status, headers } = answer;
  const type = headers.get("content-type") ?? "";
  if (type.startsWith("text/event-stream")) {
    await answer.body?.cancel();
    return [];
  }
  const text = await answer.text();
  // Who may write sees the stacks of jobs.
  const isWriter = draft.headers.authorization === `Bearer ${WRITE}`;
  const shown = isWriter && status < 400 ? text.replaceAll(STACK_OF_JOB, "") : text;
  const faults = leaksIn(`${shown}\n${[...headers].join("\n")}`).map((kind) => `shows a ${kind}: ${text}`);
  if (status >= 500) faults.push(`is ${status}: ${text}`);
  if (headers.get("x-content-type-options") !== "nosniff") faults.push("lacks the headers of security");
  if (text !== "" && !/^application\/(problem\+)?json$/.test(type)) faults.push(`is ${type}, and no JSON`);
  if (text === "" && ![204, 304].includes(status) && draft.method !== "HEAD")
    faults.push(`is ${status} without a body`);
  if (text !== "") faults.push(...faultsOfBody(status, text));
  return faults;
}

function faultsOfBody(status: number, text: string): string[] {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return [`is no JSON: ${text}`];
  }
  if (status < 400) return [];
  const { code, status: told } = body as { code?: unknown; status?: unknown };
  return typeof code === "string" && told === status ? [] : [`is no problem with a code and its status: ${text}`];
}
