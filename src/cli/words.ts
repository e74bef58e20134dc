/** Options of the library that have another name here. */
const FLAGS: Readonly<Record<string, string>> = {
  resumeFrom: "--from",
  taskId: "--task",
  timeZone: "--tz",
  scheduleId: "--schedule",
  runTimes: "--run-time",
  labels: "--label",
};

/** Calls of the library that are a command here. */
const CALLS: readonly (readonly [call: RegExp, command: string])[] = [
  [/unpauseSchedule\(id, \{ resumeFrom: "now" \}\)/g, "escapement unpause ID --from now"],
  [/unpauseSchedule\(id\) without resumeFrom/g, "escapement unpause ID, without --from,"],
  [/unpauseSchedule\("([^"]*)"\)/g, "escapement unpause $1"],
  [/unpauseTask\("([^"]*)"\)/g, "escapement unpause $1 --task"],
  [
    /register it before it is used: scheduler\.task\(.*\)$/g,
    "escapement list tasks has those that programs have registered",
  ],
  [/^there is no schedule "[^"]*"$/g, "$&; escapement list has those that there are"],
  [/pass connect\(\{ token \}\), a token that/g, "give --token, a token that"],
  [/retryJob\("([^"]*)"\)/g, "escapement retry $1"],
];

/**
 * What the library says, in words of the command line: a call of it is the command, and an option is a flag.
 * @param command the name of the command that was called, with its options; null where the text is about no call of it
 */
export function inCliWords(
  text: string,
  command: { readonly name: string; readonly options: readonly (readonly string[])[] } | null,
): string {
  const said = CALLS.reduce((before, [call, words]) => before.replace(call, words), text);
  if (command === null) return said;
  const flags = new Set(command.options.flatMap(([given = ""]) => given.match(/--[a-z-]+/g) ?? []));
  const flagOf = (name: string): string | null => {
    const flag = FLAGS[name] ?? `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
    return flags.has(flag.split(/[, ]/)[0] ?? "") ? flag : null;
  };
  return said
    .replace(/^(\w+)\(\):? (?:(\w+)[\w.[\]]* )?/, (_, _call: string, path: string | undefined) => {
      return `${command.name}: ${path === undefined ? "" : `${flagOf(path) ?? path} `}`;
    })
    .replace(/\bwrite \{ (\w+): (true|[^{}]*) \}/g, (whole, name: string, value: string) => {
      const flag = flagOf(name);
      return flag === null ? whole : `write ${flag}${value === "true" ? "" : ` ${value}`}`;
    })
    .replace(/\bwith (from|until): /g, "with --$1 ");
}
