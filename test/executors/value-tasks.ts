import { isDeepStrictEqual } from "node:util";
import * as devalue from "devalue";
import { defineTasks } from "../../src/scheduler/tasks/defined-tasks.ts";
import { DevalueSerializer } from "../../src/serializers/devalue.ts";
import type { Serializer } from "../../src/serializers/serializer.ts";
import { VALUES, type ValueKind } from "./values.ts";

export const serializer: Serializer = new DevalueSerializer(devalue);

/** For each kind of value, a task that returns one, and a task that says whether it got one. */
export const tasks: object = defineTasks(
  Object.fromEntries(
    Object.entries(VALUES).flatMap(([name, kind]) => [
      [`returns ${name}`, { handler: () => kind.make() }],
      [`gets ${name}`, { handler: (payload: unknown) => isWhole(kind, payload) }],
    ]),
  ),
);

/** Whether a value is what arrives of a kind. */
export function isWhole({ make, arrives: expected = make() }: ValueKind, value: unknown): boolean {
  return isDeepStrictEqual(value, expected);
}
