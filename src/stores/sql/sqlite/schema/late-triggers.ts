import type { SqlStatement } from "../../driver/driver-and-failures.ts";

/** A statement that makes a trigger, unless it is there. @param event with its table and condition @param body
 *  statements, each with its semicolon */
export function lateTrigger(name: string, event: string, body: string): SqlStatement {
  return { sql: `CREATE TRIGGER IF NOT EXISTS ${name} ${event} BEGIN ${body}END`, args: [] };
}

/** SQL of whether triggers are there of which one has this name. */
export function hasTrigger({ sql }: SqlStatement): SqlStatement {
  const [, name = ""] = / EXISTS (\S+) /.exec(sql) ?? [];
  return { sql: "SELECT 1 FROM sqlite_master WHERE type = 'trigger' AND name = ?1", args: [name] };
}
