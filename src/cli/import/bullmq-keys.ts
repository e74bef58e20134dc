import {
  addressOf,
  Bounds,
  JOBS_MAX,
  openByFirst,
  REDIS_CLIENTS,
  type RedisConnection,
  unreachable,
} from "./sources.ts";

const SCHEDULER = [
  "name",
  "every",
  "pattern",
  "tz",
  "offset",
  "startDate",
  "endDate",
  "limit",
  "data",
  "opts",
] as const;
const JOB = ["name", "data", "opts", "timestamp", "delay", "priority", "atm", "rjk", "parentKey"] as const;
/** Commands that are under way at once. */
const AT_ONCE = 500;

/** Reads the keys of BullMQ, in the form that `importBullmq` takes. Nothing is changed. @param text
 *  `redis://host`, with `?prefix=jobs` for another prefix than `bull` */
export async function readBullmq(text: string): Promise<unknown> {
  const { address, value: prefix } = addressOf(text, "prefix", "bull");
  try {
    const connection = await openByFirst("Redis", REDIS_CLIENTS, address);
    try {
      const reader = new Reader(connection);
      const queues: unknown[] = [];
      for (const name of await reader.queues(prefix)) queues.push(await reader.queue(prefix, name));
      return queues;
    } finally {
      await connection.close().catch(() => {});
    }
  } catch (error) {
    throw unreachable(text, error);
  }
}

class Reader {
  readonly #connection: RedisConnection;
  readonly #bounds = new Bounds();

  constructor(connection: RedisConnection) {
    this.#connection = connection;
  }

  async queues(prefix: string): Promise<string[]> {
    const names = new Set<string>();
    const match = `${prefix.replaceAll(/[\\*?[\]]/g, "\\$&")}:*:meta`;
    let cursor = "0";
    do {
      const page = await this.#connection.command("SCAN", cursor, "MATCH", match, "COUNT", "1000");
      const [next, keys] = page as readonly [unknown, readonly unknown[]];
      cursor = String(next);
      for (const key of keys) names.add(String(key).slice(prefix.length + 1, -":meta".length));
    } while (cursor !== "0");
    return [...names].sort();
  }

  async queue(prefix: string, queue: string): Promise<object> {
    const key = (rest: string): string => `${prefix}:${queue}:${rest}`;
    const [paused] = await this.#fields(key("meta"), ["paused"]);
    const schedulers = await this.#each(await this.#list("ZRANGE", key("repeat")), async (id) => {
      const item = named(SCHEDULER, await this.#fields(key(`repeat:${id}`), SCHEDULER));
      const [, , , ...legacy] = id.split(":");
      // Before job schedulers, a key of the set blocked the rule itself.
      if (item.name === undefined && legacy.length >= 2) return { key: id, problem: OF_OLDER_VERSION };
      return { ...item, key: id, ...problemOf(item), template: { data: parsed(item.data), opts: parsed(item.opts) } };
    });
    const waiting = [
      ...(await this.#list("LRANGE", key("wait"))).reverse(),
      ...(await this.#list("LRANGE", key("paused"))).reverse(),
      ...(await this.#list("ZRANGE", key("prioritized"))),
    ];
    const jobs = await this.#each(waiting, (id) => this.#job(key(id), id));
    const delayed = await this.#each(await this.#list("ZRANGE", key("delayed")), async (id) => {
      // Its upper bits are the time at which it is due, also after a retry.
      const score = Number(await this.#connection.command("ZSCORE", key("delayed"), id));
      return { ...(await this.#job(key(id), id)), runAt: Math.floor(score / 4096) };
    });
    return {
      queue,
      isPaused: paused === "1",
      schedulers,
      jobs: [...jobs, ...delayed],
      active: Number(await this.#connection.command("LLEN", key("active"))),
      waitingChildren: Number(await this.#connection.command("ZCARD", key("waiting-children"))),
    };
  }

  async #job(key: string, id: string): Promise<object> {
    const { atm, data, opts, ...item } = named(JOB, await this.#fields(key, JOB));
    return { ...item, id, data: parsed(data), opts: parsed(opts), attemptsMade: atm, ...problemOf({ data, opts }) };
  }

  async #list(command: "LRANGE" | "ZRANGE", key: string): Promise<string[]> {
    const ids = (await this.#connection.command(command, key, "0", `${JOBS_MAX}`)) as readonly unknown[];
    this.#bounds.add(null, ids.length);
    // A marker of BullMQ before version 5.
    return ids.map(String).filter((id) => !id.startsWith("0:"));
  }

  async #fields(key: string, names: readonly string[]): Promise<(string | undefined)[]> {
    const values = (await this.#connection.command("HMGET", key, ...names)) as readonly unknown[];
    return values.map((value) => {
      if (value === null || value === undefined) return undefined;
      this.#bounds.add(String(value), 0);
      return String(value);
    });
  }

  async #each<T>(ids: readonly string[], read: (id: string) => Promise<T>): Promise<T[]> {
    const found: T[] = [];
    for (let from = 0; from < ids.length; from += AT_ONCE) {
      found.push(...(await Promise.all(ids.slice(from, from + AT_ONCE).map(read))));
    }
    return found;
  }
}

function named<Name extends string>(
  names: readonly Name[],
  values: readonly (string | undefined)[],
): Partial<Record<Name, string>> {
  const entries = names.flatMap((name, index) => (values[index] === undefined ? [] : [[name, values[index]]]));
  return Object.fromEntries(entries) as Partial<Record<Name, string>>;
}

const OF_OLDER_VERSION =
  "it is a repeatable job of an older BullMQ: add it as a job scheduler by version 5.16 or later";

/** Why a job or a scheduler cannot be taken over, if its texts are the cause. */
function problemOf(texts: { readonly data?: string | undefined; readonly opts?: string | undefined }): object {
  try {
    JSON.parse(texts.data ?? "null");
    JSON.parse(texts.opts ?? "null");
    return {};
  } catch {
    return { problem: "its data is no JSON" };
  }
}

function parsed(text: string | undefined): unknown {
  try {
    return text === undefined ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}
