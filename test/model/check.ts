import { CASES, type Case, DEEP_CASES } from "./cases.ts";
import { explore } from "./explore.ts";
import { makeModel } from "./model.ts";
import type { Settings } from "./settings.ts";

/** What became of an exploration. */
export interface Verdict {
  /** What is wrong, or null. */
  readonly flaw: string | null;
  /** The shortest way to the flaw, a state a line. */
  readonly trace: string;
  readonly states: number;
  readonly moves: number;
}

/** Visits every state of a part of the protocol. */
export function check(settings: Settings, statesMax: number): Verdict {
  const { states, moves, isComplete, flaw } = explore(makeModel(settings), statesMax);
  const text = isComplete ? (flaw?.text ?? null) : `more than ${statesMax} states`;
  return { flaw: text, trace: flaw?.trace.join("\n") ?? "", states, moves };
}

/** The cases of a run in seconds, or in minutes. */
export function casesOf(isDeep: boolean): readonly Case[] {
  return isDeep ? [...CASES, ...DEEP_CASES] : CASES;
}
