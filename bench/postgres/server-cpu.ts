import { readdirSync, readFileSync } from "node:fs";
import type { Sql } from "./contestants.ts";

/** The clock ticks of a second, as Linux tells the CPU time of processes. */
const TICKS_PER_SECOND = 100;

/** Seconds of CPU that a server has used so far: its first process, all others, and those that have ended. */
export async function serverCpuSeconds(sql: Sql): Promise<number> {
  const [row] = await sql.unsafe<{ pid: number }>("SELECT pg_backend_pid() AS pid");
  const root = statOf(row?.pid ?? 0)?.parent ?? 0;
  const processes = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  const ticks = processes.map((name) => {
    const stat = statOf(Number(name));
    if (stat === null) return 0;
    if (Number(name) === root) return stat.own + stat.ended;
    return stat.parent === root ? stat.own : 0;
  });
  return ticks.reduce((sum, some) => sum + some, 0) / TICKS_PER_SECOND;
}

interface Stat {
  readonly parent: number;
  readonly own: number;
  /** Of its processes that have ended. */
  readonly ended: number;
}

/** Null for a process that has ended. */
function statOf(pid: number): Stat | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The name of the program may have spaces.
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
    const number = (place: number): number => Number(fields[place]);
    return { parent: number(1), own: number(11) + number(12), ended: number(13) + number(14) };
  } catch {
    return null;
  }
}
