import type { SchedulerClient, Trigger } from "../mod.ts";
import { messageOf } from "./failure.ts";
import { type Piece, styled } from "./output.ts";

/** The rule of a schedule in words, and its zone; of a rule that this version does not know, that it does not. */
export function ruleText(record: { readonly trigger: Trigger | null }): {
  readonly text: string;
  readonly timeZone: string;
} {
  try {
    const { trigger } = record;
    if (trigger === null) return { text: "-", timeZone: "UTC" };
    return { text: trigger.describe(), timeZone: trigger.timeZone };
  } catch (error) {
    return { text: `unreadable: ${messageOf(error)}`, timeZone: "UTC" };
  }
}

/** The zone of a schedule's rule. @throws {ScheduleLookupError} */
export async function zoneOfSchedule(client: SchedulerClient, id: string): Promise<string> {
  return ruleText(await client.getSchedule(id)).timeZone;
}

const BAD = ["error", "abandoned", "misfired", "deserializationFailed", "timeout", "missed", "overdue"];
const GOOD = ["success"];

/** An outcome, a verdict or a state, with the colour of trouble if it is one. */
export function outcomePiece(word: string): Piece {
  if (GOOD.includes(word)) return styled("green", word);
  return BAD.includes(word) ? styled("red", word) : word;
}

/** Any value as text on one line, not too long. */
export function valueText(value: unknown, lengthMax = 200): string {
  const text = typeof value === "string" ? value : (JSON.stringify(value) ?? "-");
  return text.length <= lengthMax ? text : `${text.slice(0, lengthMax)}…`;
}
