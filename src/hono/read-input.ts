import type { GenericSchema } from "valibot";
import { type Checker, checker, type Hints } from "../core/check.ts";
import { OptionsError } from "../core/errors.ts";
import { optionError } from "../core/option-errors.ts";
import { Refusal } from "./refusal.ts";
import { nothing } from "./schemas.ts";

const PAYLOAD_ADVICE =
  "the job gets the payload of the schedule; POST /jobs with { taskId, payload } adds a job with another payload";

const BODY_IS_GONE =
  "something in front of the router has read the body, such as express.json(); mount the router before that";

/** What a caller should do about a parameter of a route that takes none. */
const NO_QUERY: Hints = { takes: "no query", elsewhere: () => "this request takes none; leave it out" };

/** Reads the input of one route. */
export interface InputReader {
  /** @throws {Refusal} */
  query(url: URL): unknown;
  /** @throws {OptionsError} @throws {Refusal} */
  body(request: Request): Promise<unknown>;
}

/** @param where the route, such as `POST /jobs`: the messages of errors begin with it */
export function inputReader(
  where: string,
  querySchema: () => GenericSchema,
  bodySchema: (() => GenericSchema) | undefined,
  bodyBytesMax: number,
): InputReader {
  const checkQuery = checker(querySchema, querySchema === nothing ? NO_QUERY : { takes: "a query" });
  const checkBody = bodySchema === undefined ? null : checker(bodySchema, hintsFor(where, bodySchema));
  return {
    query: (url) => queryOf(url, checkQuery, querySchema(), where),
    async body(request) {
      if (checkBody === null) return undefined;
      const hasBody = announcesBody(request);
      const text = await bodyText(request, bodyBytesMax);
      if (text === "") {
        if (hasBody) throw new Refusal(400, "badRequest", BODY_IS_GONE);
        return checkBody({}, where);
      }
      if (!/^application\/json *(;|$)/i.test(request.headers.get("content-type") ?? "")) {
        throw new Refusal(415, "unsupportedMediaType", "send the body as application/json");
      }
      return checkBody(jsonOf(text), where);
    },
  };
}

/** What a caller should do about a property of the body of a route that takes none. */
function hintsFor(where: string, bodySchema: () => GenericSchema): Hints {
  if (bodySchema === nothing) {
    return { takes: "no body", elsewhere: () => "this request takes none; leave the body out" };
  }
  const isRun = where === "POST /schedules/:id/run";
  return { takes: "a JSON object", elsewhere: (name) => (isRun && name === "payload" ? PAYLOAD_ADVICE : null) };
}

/** Lists whose items come one by one, because these may have commas. */
const UNSPLIT: readonly string[] = ["ids", "label"];

function queryOf(url: URL, check: Checker<unknown>, schema: object, where: string): unknown {
  const { entries = {} } = schema as { entries?: Record<string, object> };
  const query: Record<string, unknown> = {};
  for (const [name, text] of url.searchParams) {
    const kind = Object.hasOwn(entries, name) ? kindOf(entries[name]) : null;
    const isList = kind === "array";
    if (Object.hasOwn(query, name) && !isList) throw badQuery(optionError(where, name, "is given twice"));
    const value = isList
      ? [...((query[name] as string[] | undefined) ?? []), ...(UNSPLIT.includes(name) ? [text] : text.split(","))]
      : converted(text, kind);
    // Defined, because a parameter may be called `__proto__`.
    Object.defineProperty(query, name, { value, enumerable: true, configurable: true });
  }
  try {
    return check(query, where);
  } catch (error) {
    throw error instanceof OptionsError ? badQuery(error) : error;
  }
}

function badQuery({ code, message, issues }: OptionsError): Refusal {
  return new Refusal(400, code, message, issues);
}

/** The type of an entry, within `optional`. */
function kindOf(schema: object | undefined): unknown {
  const { wrapped, type } = (schema ?? {}) as { wrapped?: object; type?: string };
  return wrapped === undefined ? type : kindOf(wrapped);
}

/** A parameter is text. What it should be and is not stays text, which the schema then refuses. */
function converted(text: string, kind: unknown): unknown {
  if (kind === "number" && /^-?\d{1,16}$/.test(text)) return Number(text);
  if (kind === "boolean" && /^(true|false)$/.test(text)) return text === "true";
  return text;
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The message of the parser shows a part of the body.
    throw new Refusal(400, "badRequest", "the body is not JSON");
  }
}

/** Whether the caller sent a body, which may have been read before it came here. */
function announcesBody({ headers, bodyUsed }: Request): boolean {
  return bodyUsed || Number(headers.get("content-length") ?? 0) > 0 || headers.has("transfer-encoding");
}

/** The body as text. It stops reading when there is too much. */
async function bodyText(request: Request, bytesMax: number): Promise<string> {
  const tooLarge = () => new Refusal(413, "tooLarge", `the body has more than ${bytesMax} bytes`);
  if (Number(request.headers.get("content-length") ?? 0) > bytesMax) throw tooLarge();
  if (request.body === null || request.bodyUsed) return "";
  const reader = request.body.getReader();
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let text = "";
  let bytes = 0;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      bytes += value?.byteLength ?? 0;
      if (bytes > bytesMax) throw tooLarge();
      text += done ? decoder.decode() : decoder.decode(value, { stream: true });
      if (done) return text;
    }
  } catch (error) {
    void reader.cancel().catch(() => {});
    if (error instanceof TypeError) throw new Refusal(400, "badRequest", "the body is not text in UTF-8");
    throw error;
  }
}
