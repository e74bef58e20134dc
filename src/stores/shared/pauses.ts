import { present } from "../../core/without-undefined.ts";

/** What is said of a pause: when it ends by itself, why it is there, and who asked for it. Absent fields: for ever, for
 *  no reason, and nobody. */
export interface PauseFacts {
  readonly pausedUntil?: number;
  readonly pauseReason?: string;
  readonly pausedBy?: string;
}

/** Why a schedule was paused because of its failures. SQL says the same. */
export function reasonOfFailures(count: number): string {
  return count === 1 ? "1 failure in a row" : `${count} failures in a row`;
}

/** The facts of a pause among other fields; null and undefined count as absent. */
export function pauseFacts(
  of: { readonly [Name in keyof PauseFacts]?: PauseFacts[Name] | null | undefined },
): PauseFacts {
  return present(of, "pausedUntil", "pauseReason", "pausedBy");
}
