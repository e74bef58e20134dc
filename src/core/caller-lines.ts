import { EscapementError } from "./errors.ts";
import { isOurFrame } from "./shown-errors.ts";

/** Lets rejections of the async methods of a class end in the frames of whoever awaits them. By themselves they often
 *  have those of another turn, or so many of the library that the runtime keeps no others. Costs a promise a call. */
export function tellCallers({ prototype }: { readonly prototype: object }): void {
  if (told.has(prototype)) return;
  told.add(prototype);
  for (const [name, { value: method }] of Object.entries(Object.getOwnPropertyDescriptors(prototype))) {
    if (!(method instanceof AsyncFunction)) continue;
    const value = async function (this: object, ...given: unknown[]): Promise<unknown> {
      try {
        return await method.apply(this, given);
      } catch (error) {
        return calledFrom(error, new Error());
      }
    };
    Object.defineProperty(prototype, name, { value });
  }
}

const told = new WeakSet<object>();

const AsyncFunction = (async () => {}).constructor as new () => (...given: unknown[]) => Promise<unknown>;

/** Throws an error. One of the library gets the frames of a call that it lacks.
 *  @param call made in the call, or in what awaited it: the frames of an async function go on in those that await it */
export function calledFrom(error: unknown, call: Error): never {
  if (!(error instanceof EscapementError)) throw error;
  const { stack = "" } = error;
  const frames = `${call.stack}`.split("\n").filter((line) => {
    // The column of a call is not that of its `await`.
    const place = /[^\s(]+:\d+:(?=\d+\)?$)/.exec(line)?.[0];
    return place !== undefined && !isOurFrame(line) && !stack.includes(place);
  });
  // The error may be frozen.
  Reflect.set(error, "stack", [stack, ...frames].join("\n"));
  throw error;
}
