import { describe, expectTypeOf, test } from "vitest";
import type { Plain, PlainPage, RemoteValue } from "../../src/cloudflare/mod.ts";
import type { Job, JobResult, Schedule, TaskView } from "../../src/mod.ts";
import type { LibsqlConnection } from "../../src/stores/libsql/mod.ts";
import type { LibsqlHttpConnection } from "../../src/stores/libsql-http/mod.ts";

/** What Cloudflare's types ask of the answer of a remote call; for an answer that does not fit they say `never`. */
type Serializable<T> =
  | string
  | number
  | boolean
  | bigint
  | null
  | undefined
  | readonly (T extends readonly (infer Item)[] ? Serializable<Item> : never)[]
  | { [Name in keyof T]: Name extends string | number ? Serializable<T[Name]> : never };

type Fits<T> = T extends Serializable<T> ? true : false;

describe("the types of remote calls", () => {
  test("fit Cloudflare's, which takes no unknown", () => {
    expectTypeOf<Fits<{ value: unknown }>>().toEqualTypeOf<false>();
    expectTypeOf<Fits<Plain<Job>>>().toEqualTypeOf<true>();
    expectTypeOf<Fits<Plain<JobResult>>>().toEqualTypeOf<true>();
    expectTypeOf<Fits<Plain<TaskView>[]>>().toEqualTypeOf<true>();
    expectTypeOf<Fits<PlainPage<Schedule>>>().toEqualTypeOf<true>();
    expectTypeOf<Plain<JobResult>["returnValue"]>().toEqualTypeOf<RemoteValue>();
  });

  test("let a token be a variable that may be missing", () => {
    const env: { TOKEN?: string } = {};
    const connection = { url: "http://127.0.0.1:8080", authToken: env.TOKEN };
    expectTypeOf(connection).toExtend<LibsqlConnection>();
    expectTypeOf(connection).toExtend<LibsqlHttpConnection>();
  });
});
