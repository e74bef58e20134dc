import fc from "fast-check";
import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { INSTANT_MS_MAX } from "../../src/core/temporal.ts";
import { eventSchemas, receivedEvents } from "../../src/records/event-schema.ts";
import { EVENT_TYPES, type EventType } from "../../src/records/events.ts";
import { ID_LENGTH_MAX } from "../../src/records/limits.ts";
import { OVERDUE_ENDS, OVERDUE_KINDS } from "../../src/records/overdue.ts";
import { JOB_OUTCOMES } from "../../src/records/policies.ts";
import { quickReader } from "../../src/records/quick-reader.ts";

const ERROR = { name: "Error", message: "no" };

/** Values at and beyond the bounds of every field. */
const VALUES: readonly unknown[] = [
  ...["", "id", "x".repeat(ID_LENGTH_MAX), "x".repeat(ID_LENGTH_MAX + 1), "\u{1F551}".repeat(ID_LENGTH_MAX / 2), "7"],
  ...[0, -0, 1, -1, 0.5, 1.5, INSTANT_MS_MAX, -INSTANT_MS_MAX, INSTANT_MS_MAX + 1, -INSTANT_MS_MAX - 1, 2 ** 53],
  ...[Number.NaN, Number.POSITIVE_INFINITY, true, false, null, undefined, 7n, Symbol.iterator, new Date(0)],
  ...[
    "overlap",
    "replaced",
    "limit",
    "parents",
    "task",
    "executor",
    "worker",
    ...JOB_OUTCOMES,
    ...OVERDUE_KINDS,
    ...OVERDUE_ENDS,
  ],
  ...[ERROR, { ...ERROR, more: 1 }, { ...ERROR, stack: undefined }, { ...ERROR, cause: ERROR }, { name: 7 }, {}, []],
];

/** The fields of an event beside its type. */
const fieldsOf = (type: EventType): [string, v.GenericSchema][] =>
  Object.entries(eventSchemas()[type].entries as Readonly<Record<string, v.GenericSchema>>).filter(
    ([name]) => name !== "type",
  );

const acceptedBy = (field: v.GenericSchema): readonly unknown[] => VALUES.filter((value) => v.is(field, value));

/** A message that is an event, or nearly one. */
const messageOf = (type: EventType): fc.Arbitrary<object> => {
  const values = fieldsOf(type).map(([name, field]) => {
    const good = { weight: 30, arbitrary: fc.constantFrom(...acceptedBy(field)) };
    return [name, fc.oneof(good, { weight: 1, arbitrary: fc.constantFrom(...VALUES) })] as const;
  });
  const names = fieldsOf(type).map(([name]) => name);
  const absent = fc.oneof({ weight: 10, arbitrary: fc.constant("") }, fc.constantFrom(...names));
  const more = fc.constantFrom({}, {}, {}, { more: 1 }, JSON.parse('{"__proto__":{"taskId":"t"}}'));
  return fc.tuple(fc.record(Object.fromEntries(values)), absent, more).map(([fields, name, others]) => {
    const message: Record<string, unknown> = { ...others, ...fields, type };
    delete message[name];
    return message;
  });
};

/** An event without an error, unless all of its type have one. */
const plainEventOf = (type: EventType): object => {
  const fields = fieldsOf(type).map(([name, field]) => {
    const values = name === "error" ? [null, ERROR] : VALUES.filter((value) => value !== undefined);
    return [name, values.find((value) => v.is(field, value))];
  });
  return { type, ...Object.fromEntries(fields) };
};

describe.each(EVENT_TYPES)("messages of the type %s", (type) => {
  const schema = eventSchemas()[type];

  test("are accepted, refused and completed as the schema does it", () => {
    fc.assert(
      fc.property(messageOf(type), (message) => {
        const result = v.safeParse<v.GenericSchema>(schema, message, { abortEarly: true });
        const reason = `an event of the type "${type}" is dropped, because its ${
          result.issues === undefined ? "" : v.getDotPath(result.issues[0])
        } is not what it must be`;
        const refused: string[] = [];
        const events = receivedEvents([message], (text) => refused.push(text));
        expect({ events, refused }).toStrictEqual(
          result.success ? { events: [result.output], refused: [] } : { events: [], refused: [reason] },
        );
      }),
    );
  });

  test("are new objects", () => {
    const message = plainEventOf(type);
    const [event] = receivedEvents([message]);
    expect(event).toEqual(message);
    expect(event).not.toBe(message);
  });

  test("need no schema where they carry no error and no list", () => {
    const message = plainEventOf(type);
    const isPlain = Object.values(message).every((value) => typeof value !== "object" || value === null);
    expect(quickReader<object>(schema)(message)).toEqual(isPlain ? message : null);
  });
});

test.each([
  ["a change", v.pipe(v.string(), v.trim())],
  ["another bound of a text", v.pipe(v.string(), v.minLength(1))],
  ["another bound of a number", v.pipe(v.number(), v.multipleOf(2))],
  ["a bound of a boolean", v.pipe(v.boolean(), v.value(true))],
  ["a default for null", v.nullable(v.string(), "none")],
  ["an object", v.object({})],
  ["anything", v.unknown()],
])("the quick reader leaves to the schema what it does not know: %s", (_, field) => {
  const read = quickReader(v.object({ field }));
  const values = [" a ", "", 4, true, {}].map((value) => ({ field: value }));
  expect(values.map((value) => read(value))).toEqual(values.map(() => null));
});

test("the quick reader takes every bound of a pipe, also of one that begins with a pipe", () => {
  const even = v.pipe(v.number(), v.minValue(0), v.maxValue(9));
  const read = quickReader(v.object({ field: v.pipe(even, v.maxValue(5), v.minValue(-5), v.safeInteger()) }));
  const taken = [-1, 0, 5, 6, 2.5, "3", Number.NaN].filter((field) => read({ field }) !== null);
  expect(taken).toEqual([0, 5]);
});
