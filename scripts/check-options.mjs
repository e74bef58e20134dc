// @ts-check

import { parseArgs } from "node:util";

export const PARTS = ["checks", "node", "deno", "bun", "workerd"];

export const USAGE = `npm test -- [options] [file filter ...]

  --only <part,...>   run only these parts: ${PARTS.join(", ")}
  --fast              leave out packaging, Deno's type check and the browser
  --busy <n>          run n busy loops beside it: a busy machine must not fail a test
  --help              print this

A file filter is a part of a test file's path. With one, the checks run only if --only names them.`;

/**
 * @param {string[]} args
 * @returns {{ parts: Set<string>, isFast: boolean, busyLoops: number, filters: string[], isHelp: boolean }}
 * @throws {Error} with a message for the user when an option or a part is unknown
 */
export function parseOptions(args) {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      only: { type: "string", multiple: true },
      fast: { type: "boolean" },
      busy: { type: "string", default: "0" },
      help: { type: "boolean" },
    },
  });
  const named = (values.only ?? []).flatMap((list) => list.split(",")).filter((part) => part !== "");
  for (const part of named) {
    if (!PARTS.includes(part)) throw new Error(`--only knows ${PARTS.join(", ")}; got ${JSON.stringify(part)}`);
  }
  if (!/^\d{1,2}$/.test(values.busy))
    throw new Error(`--busy takes a number up to 99; got ${JSON.stringify(values.busy)}`);
  const byDefault = positionals.length > 0 ? PARTS.filter((part) => part !== "checks") : PARTS;
  return {
    parts: new Set(named.length > 0 ? named : byDefault),
    isFast: values.fast ?? false,
    busyLoops: Number(values.busy),
    filters: positionals,
    isHelp: values.help ?? false,
  };
}
