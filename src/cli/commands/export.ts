import { exportStore, type TransferPart } from "../../transfer/mod.ts";
import { type CommandCall, type CommandTarget, textOption } from "../command.ts";
import { CliError, EXIT } from "../failure.ts";
import { styled } from "../output.ts";

/** `escapement export`: what is in a store, as JSON lines on the standard output. */
export async function run(call: CommandCall): Promise<number> {
  const { io, out } = call;
  const parts = (textOption(call, "include") ?? "").split(",").filter((part) => part !== "");
  const { client, dataStore } = await call.target();
  if (dataStore === null) throw new CliError("an export is made of a store: give --store");
  // It refuses parts that it does not know.
  const include = parts as readonly string[] as readonly TransferPart[];
  const progress = out.progress("lines");
  // It opens the store for all that follows.
  await client.getTasks();
  let [count, running] = [0, 0];
  for await (const line of exportStore(dataStore, { include, signal: io.signals.first })) {
    out.jsonText(line);
    if (line.startsWith('{"runningJob":')) running++;
    await io.drained();
    // On a terminal, the lines themselves are what there is to see.
    if (!io.isTerminal) progress.at(++count, null);
  }
  progress.end();
  for (const what of await leftBehind(call, dataStore, include, running)) {
    out.error(styled("yellow", "stays behind:"), ` ${what}`);
  }
  return EXIT.fine;
}

/** What the store has and the text has not. @param running how many jobs the text names and does not have */
async function leftBehind(
  { io }: CommandCall,
  dataStore: NonNullable<CommandTarget["dataStore"]>,
  include: readonly TransferPart[],
  running: number,
): Promise<string[]> {
  const left: string[] = [];
  const now = io.clock.now();
  if (running > 0)
    left.push(`${counted(running, "job")} that ran, slept or had recorded steps, with what waits for them`);
  if (!include.includes("jobs")) {
    const { tasks } = await dataStore.inspect(now);
    const jobs = tasks.reduce((sum, task) => sum + task.waiting + task.running, 0);
    const isCapped = tasks.some((task) => task.isQueuedCapped === true || task.isBlockedCapped === true);
    const count = isCapped ? `${jobs} or more unfinished jobs` : counted(jobs, "unfinished job");
    if (jobs > 0) left.push(`${count}; --include jobs takes them along`);
  }
  if (!include.includes("results")) {
    const { items } = await dataStore.getJobResults({ limit: 1, cursor: null, order: "newest" }, now);
    if (items.length > 0) left.push("results of jobs; --include results takes them along");
  }
  if (!include.includes("ledger") && dataStore.ledger !== undefined) {
    const { items } = await dataStore.getSchedules({ limit: 1, cursor: null });
    if (items.length > 0) left.push("what became of fire times; --include ledger takes it along");
  }
  return left;
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}
