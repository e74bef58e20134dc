import { DeserializationError } from "../core/errors.ts";
import { triggerFromJSON } from "./codec.ts";
import type { Trigger } from "./trigger.ts";

/** The trigger behind a schedule's stored text. @throws {DeserializationError} */
export function parseTrigger(text: string): Trigger {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (cause) {
    throw new DeserializationError(`the stored trigger is not JSON: ${text.slice(0, 60)}`, { cause });
  }
  return triggerFromJSON(json);
}
