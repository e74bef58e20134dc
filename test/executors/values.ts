import { Buffer } from "node:buffer";
import { Temporal as Polyfill } from "temporal-polyfill";

/** A kind of value: how one is made, what becomes of it as JSON, and what arrives where that is no copy. */
export interface ValueKind {
  readonly make: () => unknown;
  readonly verdict: "arrives" | "SerializationError";
  readonly arrives?: unknown;
}

const arrives = (make: () => unknown, as?: unknown): ValueKind => ({
  make,
  verdict: "arrives",
  ...(as === undefined ? {} : { arrives: as }),
});
const refused = (make: () => unknown): ValueKind => ({ make, verdict: "SerializationError" });

class Point {
  readonly x = 1;
}
class Names extends Array<string> {}

/** What handlers may get and return, on every runtime the same. */
export const VALUES: Readonly<Record<string, ValueKind>> = {
  null: arrives(() => null),
  undefined: arrives(() => undefined),
  true: arrives(() => true),
  text: arrives(() => "a \u{1F551}"),
  "an empty text": arrives(() => ""),
  "text with a NUL and half a character": arrives(() => "\0 \uD800"),
  "a number": arrives(() => 1.5),
  "minus zero": arrives(() => -0, 0),
  NaN: refused(() => [Number.NaN]),
  infinity: refused(() => ({ a: Number.POSITIVE_INFINITY })),
  "a bigint": refused(() => 2n ** 70n),
  "a symbol": refused(() => Symbol("s")),
  "a function": refused(() => () => 1),
  "a class": refused(() => Point),
  "plain data": arrives(() => ({ a: [1, { b: null }, [[]]], ü: {} })),
  "a property that is undefined": arrives(() => ({ a: undefined, b: 1 }), { b: 1 }),
  "an item that is undefined": refused(() => [1, undefined]),
  "a list with a hole": refused(() => Object.assign(new Array(3), { 0: 1, 2: 3 })),
  "a list with a property": refused(() => Object.assign([1], { more: 2 })),
  "the match of a regular expression": refused(() => /(b)/.exec("abc")),
  "a list of a class": refused(() => Names.from(["a"])),
  "an object without a prototype": arrives(() => Object.assign(Object.create(null), { a: 1 }), { a: 1 }),
  "a getter": arrives(() => Object.defineProperty({}, "x", { get: () => 1, enumerable: true }), { x: 1 }),
  "a getter that throws": refused(() =>
    Object.defineProperty({}, "x", {
      get: () => {
        throw new Error("nobody may look");
      },
      enumerable: true,
    }),
  ),
  "a toJSON method": refused(() => ({ toJSON: () => 1 })),
  "a property whose key is a symbol": refused(() => ({ [Symbol("s")]: 1 })),
  "__proto__ as a key": arrives(() => JSON.parse('{"__proto__":{"a":1}}')),
  "a cycle": refused(() => {
    const cycle: { self?: unknown } = {};
    cycle.self = [cycle];
    return cycle;
  }),
  "one object twice": arrives(() => {
    const shared = { a: 1 };
    return [shared, shared];
  }),
  "a proxy": arrives(() => new Proxy({ a: 1 }, {}), { a: 1 }),
  "a proxy that is revoked": refused(() => {
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    return { proxy };
  }),
  "a date": refused(() => new Date(0)),
  "a date that is none": refused(() => ({ at: new Date(Number.NaN) })),
  "a regular expression": refused(() => /a/g),
  "a map": refused(() => new Map([["a", 1]])),
  "a set": refused(() => new Set([1])),
  "a weak map": refused(() => new WeakMap()),
  bytes: refused(() => new Uint8Array([1, 2, 255])),
  "an array buffer": refused(() => new ArrayBuffer(8)),
  "a buffer": refused(() => Buffer.from("hi")),
  "a URL": refused(() => new URL("https://example.org/")),
  "search parameters": refused(() => ({ query: new URLSearchParams("a=1") })),
  "an error": refused(() => new RangeError("as a value")),
  "an instance of a class": refused(() => new Point()),
  "an instance of a class, within": refused(() => ({ a: [new Point()] })),
  "a boxed number": refused(() => Object(1)),
  "a promise, within": refused(() => ({ value: Promise.resolve(1) })),
  "a generator": refused(() => (function* () {})()),
  "headers of a request": refused(() => new Headers({ a: "1" })),
  "a formatter": refused(() => new Intl.NumberFormat("en")),
  "an instant of a polyfill": refused(() => ({ at: Polyfill.Instant.fromEpochMilliseconds(0) })),
  "a date of a polyfill": refused(() => Polyfill.PlainDate.from("2030-01-31")),
  "a duration of the runtime": refused(() => {
    const { Temporal = Polyfill } = globalThis as { Temporal?: typeof Polyfill };
    return Temporal.Duration.from({ hours: 1 });
  }),
  "data that is nested too deep": refused(() => JSON.parse(`${"[".repeat(1500)}${"]".repeat(1500)}`)),
  "data that is too large": refused(() => "x".repeat(1_000_001)),
  "a list of 20,000 numbers": arrives(() => Array.from({ length: 20_000 }, (_, index) => index)),
};
