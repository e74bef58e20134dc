import type { SqlStatement, SqlValue } from "../../sql/driver/driver-and-failures.ts";
import { encodedJson, encodedText } from "./stand-ins.ts";

// A batch is one message to the server: a *simple query* of several statements, which the server runs as one
// transaction, without a BEGIN that would have to be ended. It is the only form in which every client and every pool
// sends several statements in one round trip, and it has no place for parameters. So values travel as literals.

/** A value as SQL, whatever the server's settings are: in a text of this form, only quotes and backslashes have a
 *  meaning. */
export function literal(value: SqlValue): string {
  if (value === null) return "NULL";
  if (typeof value === "number") return value < 0 ? `(${value})` : String(value);
  return `E'${value.replaceAll("\\", "\\\\").replaceAll("'", "''")}'`;
}

function encoded(value: SqlValue, isJson: boolean): SqlValue {
  if (typeof value !== "string") return value;
  return isJson ? encodedJson(value) : encodedText(value);
}

/** Puts values in the places of parameters, and keeps the parts of texts that come again. */
export class Literals {
  readonly #parts = new Map<string, string[]>();

  /** A statement without parameters. */
  textOf({ sql, args }: SqlStatement): string {
    if (args.length === 0) return sql;
    const parts = this.#partsOf(sql);
    let text = parts[0] ?? "";
    for (let index = 1; index < parts.length; index += 2) {
      const value = args[Number(parts[index]) - 1] ?? null;
      const after = parts[index + 1] ?? "";
      text += literal(encoded(value, after.startsWith("::json"))) + after;
    }
    return text;
  }

  /** Texts, and between them the numbers of parameters. */
  #partsOf(sql: string): string[] {
    let parts = this.#parts.get(sql);
    if (parts === undefined) {
      parts = sql.split(/\?(\d+)/);
      this.#parts.set(sql, parts);
    }
    return parts;
  }
}

/** A statement with `$1` and so on, as clients of PostgreSQL take it. */
export function numbered({ sql, args }: SqlStatement): SqlStatement {
  const json = new Set([...sql.matchAll(/\?(\d+)::json/g)].map(([, number]) => Number(number) - 1));
  const values = args.map((value, place) => encoded(value, json.has(place)));
  // postgres.js makes JSON of a value that the server expects as json, also of a text that is JSON already.
  return {
    sql: sql.replace(/\?(\d+)(::json)?/g, (_, number, json) => `$${number}${json ? "::text::json" : ""}`),
    args: values,
  };
}
