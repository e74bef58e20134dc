// @ts-check

// Which files of the package hold what its doors share. Finding and reading a file costs a process about a millisecond,
// so they are few: what `escapement/cron` needs, what else `escapement` shares with other doors, and one for each room
// that a scheduler can do without.

/** Rooms below `src` of which `escapement` needs little. */
const ROOMS = ["crontab", "stores", "executors", "brokers", "cloudflare", "testing"];

/** The shared files. None imports a later one. */
export const CHUNKS = ["cron", "scheduler", ...ROOMS];

/**
 * The shared file of each module that has one, by its name below `shared`. What is missing stays in its door. Pure.
 *
 * @param {readonly string[]} entries paths of modules, from the root
 * @param {(path: string) => readonly string[]} importsOf
 * @returns {Map<string, string>}
 */
export function sharedChunks(entries, importsOf) {
  const reached = new Map(entries.map((entry) => [entry, reachedFrom(entry, importsOf)]));
  const isReachedBy = (/** @type {string} */ entry, /** @type {string} */ path) =>
    reached.get(entry)?.has(path) === true;
  /** @type {Map<string, string>} */
  const chunks = new Map();
  for (const path of new Set([...reached.values()].flatMap((paths) => [...paths]))) {
    if (entries.filter((entry) => isReachedBy(entry, path)).length < 2) continue;
    const room = ROOMS.find((name) => path.startsWith(`src/${name}/`));
    // What commands about rules need of the triggers goes along, so that they load no scheduler.
    const isOfRules = path.startsWith("src/triggers/") && isReachedBy("src/cli/engine.ts", path);
    if (isReachedBy("src/cron.ts", path) || isOfRules) chunks.set(path, "cron");
    else if (room === undefined || isReachedBy("src/mod.ts", path)) chunks.set(path, "scheduler");
    else chunks.set(path, room);
  }
  return chunks;
}

/** @param {string} entry @param {(path: string) => readonly string[]} importsOf */
function reachedFrom(entry, importsOf) {
  const reached = new Set([entry]);
  for (const path of reached) for (const next of importsOf(path)) reached.add(next);
  return reached;
}
