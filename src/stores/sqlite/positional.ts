import type { SqlStatement, SqlValue } from "./driver.ts";

/** A statement with a plain `?` for each parameter, in the order of the text, because not every client of a database
 *  takes numbered parameters. The text must have no `?` but those of `?1`, `?2` and so on. */
export function positional({ sql, args }: SqlStatement): SqlStatement {
  const inOrder: SqlValue[] = [];
  const text = sql.replace(/\?(\d+)/g, (_, number: string) => {
    inOrder.push(args[Number(number) - 1] ?? null);
    return "?";
  });
  return { sql: text, args: inOrder };
}
