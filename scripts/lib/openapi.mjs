// @ts-check
import { toJsonSchema } from "@valibot/to-json-schema";

/**
 * What `src/hono/openapi/parts.ts` exports.
 *
 * @typedef {import("../../src/hono/openapi/parts.ts")} Parts
 * @typedef {import("valibot").GenericSchema} Schema
 * @typedef {Record<string, unknown>} Json
 */

const TITLES = {
  200: "Done",
  201: "Added",
  202: "Accepted",
  204: "Done",
  400: "The query, or the form of the body, is wrong",
  401: "Nobody is signed in",
  403: "The caller may only read, another site sent the request, or its `Host` is none of the router's",
  404: "There is no such thing",
  409: "It does not go together with what there is",
  412: "The schedule was changed since its ETag was read",
  413: "The body is too large",
  415: "The body is not application/json",
  422: "The input is refused",
  429: "The address sent too many wrong tokens",
  500: "A fault of the server",
  503: "The store cannot be reached",
};
const PROBLEMS = Object.keys(TITLES)
  .map(Number)
  .filter((status) => status >= 400);
const TRIGGER_HELP =
  "Crontab text (in the time zone of the scheduler, unless `timeZone` names one), a period, one instant (or, with " +
  "`timeZone`, a civil time), or the JSON of a trigger";
const WITH_KEY = ["POST /jobs", "POST /jobs/batch", "POST /schedules/:id/run"];

/** Those that take the `ETag` of a schedule. */
const WITH_REVISION = ["PUT /schedules/:id", "PATCH /schedules/:id", "DELETE /schedules/:id"];
const STREAM = "GET /events";
/** Those whose answers are no JSON, with the media type.
 *  @type {Record<string, string>} */
const TEXTS = { [STREAM]: "text/event-stream", "GET /metrics": "text/plain", "GET /calendar.ics": "text/calendar" };
const WITH_LOCATION = ["POST /schedules", "POST /schedules/:id/run", "POST /jobs", "POST /jobs/:id/retry"];

/**
 * The OpenAPI 3.1 document of the router. Its addresses are relative to its own place.
 *
 * @param {Parts} parts
 * @returns {Json}
 */
export function openApiOf(parts) {
  const { routes, routeDocs, answerSchemas } = parts;
  const bodies = Object.entries(parts.schemas).filter(([name]) => name.endsWith("Body"));
  const definitions = {
    ...answerSchemas,
    ...Object.fromEntries(bodies.map(([name, schema]) => [capitalized(name), schema()])),
    WireTrigger: parts.schemas.trigger(),
    Instant: parts.instant,
    GivenInstant: parts.schemas.instantText(),
    GivenTime: parts.schemas.askedText(),
    Duration: parts.duration,
    GivenDuration: parts.schemas.durationText(),
    Metadata: parts.metadata,
    GivenMetadata: parts.schemas.metadata(),
    Labels: parts.labels,
    GivenLabels: parts.schemas.labels(),
  };
  const convert = converter(parts, definitions);
  /** @type {Record<string, Json>} */
  const paths = {};
  for (const [key, route] of Object.entries(routes)) {
    const [method = "", path = ""] = key.split(" ");
    const place = path.replaceAll(/:(\w+)/g, "{$1}");
    paths[place] ??= {};
    paths[place][method.toLowerCase()] = operation(key, route, routeDocs[key], convert);
  }
  const named = Object.entries(definitions).map(([name, schema]) => [name, convert(schema, true)]);
  return {
    openapi: "3.1.0",
    info: {
      title: "Escapement",
      version: "1",
      summary: "Schedules, jobs and results of a scheduler",
      description:
        "Instants are ISO 8601 text, durations too (`PT5M`; requests also take `5m`). Ids in paths are encoded as " +
        "`encodeURIComponent` does. Lists come in pages: pass the `cursor` of a page to get the next one; null says " +
        "that there is none.",
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: "." }],
    security: [{ bearer: [] }, { session: [] }],
    paths,
    components: {
      schemas: Object.fromEntries(named),
      responses: Object.fromEntries(PROBLEMS.map((status) => [`Problem${status}`, problem(status)])),
      securitySchemes: {
        bearer: { type: "http", scheme: "bearer" },
        session: { type: "apiKey", in: "cookie", name: parts.SESSION_COOKIE },
      },
    },
  };
}

/**
 * @param {string} key
 * @param {any} route
 * @param {any} docs
 * @param {(schema: Schema, isDefinition?: boolean) => any} convert
 */
function operation(key, route, docs, convert) {
  const names = [...key.matchAll(/:(\w+)/g)].map(([, name]) => name);
  const query = route.query === undefined ? {} : convert(route.query(), true);
  const body = route.body === undefined ? null : convert(route.body());
  const parameters = [
    ...names.map((name) => ({ name, in: "path", required: true, schema: { type: "string" } })),
    ...Object.entries(query.properties ?? {}).map(([name, schema]) => ({
      name,
      in: "query",
      ...(query.required?.includes(name) ? { required: true } : {}),
      schema,
    })),
    ...(WITH_REVISION.includes(key) ? [{ name: "If-Match", in: "header", schema: { type: "string" } }] : []),
    ...(WITH_KEY.includes(key) ? [{ name: "Idempotency-Key", in: "header", schema: { type: "string" } }] : []),
    ...(key === STREAM ? [{ name: "Last-Event-ID", in: "header", schema: { type: "string" } }] : []),
  ];
  const problems = [
    ...docs.problems,
    ...(route.scope === "none" ? [] : [401, 403, 429]),
    ...(key.startsWith("GET ") ? [] : [403]),
    ...(body === null ? [] : [400, 413, 415]),
    500,
  ];
  const isOptional = body !== null && (convert(route.body(), true).required ?? []).length === 0;
  return {
    operationId: docs.operationId,
    summary: docs.summary,
    tags: [key.split("/")[1]],
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === null
      ? {}
      : { requestBody: { required: !isOptional, content: { "application/json": { schema: body } } } }),
    responses: {
      ...Object.fromEntries(
        Object.entries(docs.answers).map(([status, name]) => [status, answer(key, Number(status), name)]),
      ),
      ...Object.fromEntries(
        [...new Set(problems)].sort().map((status) => [status, { $ref: `#/components/responses/Problem${status}` }]),
      ),
    },
    ...(route.scope === "none" ? { security: [] } : {}),
  };
}

/** @param {string} key @param {number} status @param {string | null} name */
function answer(key, status, name) {
  const text = { schema: { type: "string" } };
  const headers = {
    ...(status < 203 && WITH_LOCATION.includes(key) ? { Location: text } : {}),
    ...(status === 202 && key.startsWith("GET ") ? { "Retry-After": text } : {}),
  };
  return {
    description: TITLES[status],
    ...(Object.keys(headers).length === 0 ? {} : { headers }),
    ...(key in TEXTS ? { content: { [TEXTS[key]]: text } } : {}),
    ...(name === null ? {} : { content: { "application/json": { schema: { $ref: `#/components/schemas/${name}` } } } }),
  };
}

/** A problem after RFC 9457. @param {number} status */
function problem(status) {
  const schema = { $ref: "#/components/schemas/Problem" };
  return { description: TITLES[status], content: { "application/problem+json": { schema } } };
}

/** @param {string} text */
function capitalized(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/**
 * Makes JSON Schema of a schema. A part that has a name is a reference to that name, except at the top of its own
 * definition.
 *
 * @param {Parts} parts
 * @param {Record<string, Schema>} definitions
 * @returns {(schema: Schema, isDefinition?: boolean) => any}
 */
function converter({ schemas, instant, duration, metadata }, definitions) {
  const formats = new Map([
    [instant, { type: "string", format: "date-time" }],
    [
      schemas.instantText(),
      { type: "string", description: "ISO 8601 text with an offset", examples: ["2030-01-31T09:00:00+01:00"] },
    ],
    [
      schemas.askedText(),
      {
        type: "string",
        description: "ISO 8601 text; without an offset, what clocks show in the zone of the rule",
        examples: ["2030-01-31T09:00", "2030-01-31", "2030-01-31T09:00:00+01:00"],
      },
    ],
    [duration, { type: "string", format: "duration" }],
    [schemas.durationText(), { type: "string", examples: ["PT5M", "1h 30m"] }],
    [schemas.metadata(), { type: "object", additionalProperties: {} }],
    [metadata, { type: "object", additionalProperties: {} }],
    [schemas.labels(), { type: "object", additionalProperties: { type: "string" } }],
    [schemas.trigger(), triggerSchema()],
  ]);
  const names = new Map(Object.entries(definitions).map(([name, schema]) => [schema, name]));
  return (top, isDefinition = false) => {
    if (isDefinition && formats.has(top)) return formats.get(top);
    const name = names.get(top);
    if (name !== undefined && !isDefinition) return { $ref: `#/components/schemas/${name}` };
    const {
      $schema: _schema,
      $defs: _defs,
      ...json
    } = toJsonSchema(copyOf(top), {
      target: "draft-2020-12",
      errorMode: "ignore",
      definitions,
      overrideSchema: ({ valibotSchema }) => (names.has(valibotSchema) ? undefined : formats.get(valibotSchema)),
      overrideRef: ({ referenceId }) => refOf(referenceId),
    });
    return withoutDefaults(json);
  };
}

/**
 * JSON Schema whose defaults are words of the description, because generators of clients make required what has a
 * `default`.
 *
 * @param {any} json
 * @returns {any}
 */
function withoutDefaults(json) {
  if (Array.isArray(json)) return json.map(withoutDefaults);
  if (typeof json !== "object" || json === null) return json;
  const entries = Object.entries(json).map(([name, value]) => [name, withoutDefaults(value)]);
  const { default: value, description, ...schema } = Object.fromEntries(entries);
  // A property may be called so, too: then it is a schema.
  if (value === undefined || typeof value === "object") return Object.fromEntries(entries);
  const said = `Default: ${JSON.stringify(value)}`;
  return { ...schema, description: description === undefined ? said : `${description}. ${said}` };
}

/** Another object for the same schema, so that the top of a definition is not a reference to itself.
 *  @param {Schema} schema */
function copyOf(schema) {
  return { ...schema };
}

/** @param {string} name */
function refOf(name) {
  return `#/components/schemas/${name}`;
}

function triggerSchema() {
  const text = { type: "string" };
  /** @param {string} name @param {Json} extra */
  const kind = (name, extra) => ({
    type: "object",
    properties: { [name]: text, ...extra },
    required: [name],
    additionalProperties: false,
  });
  return {
    description: TRIGGER_HELP,
    anyOf: [
      { ...text, description: "The same as `{ cron }`" },
      kind("cron", { timeZone: text }),
      kind("every", {}),
      kind("at", { timeZone: text }),
      {
        type: "object",
        properties: { type: text, version: { type: "integer", minimum: 1 } },
        required: ["type", "version"],
        additionalProperties: {},
      },
    ],
  };
}
