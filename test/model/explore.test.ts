import { expect, test } from "vitest";
import { type Emit, explore, Kind, type Model } from "./explore.ts";

/** States of one number; the moves of each are given. */
function makeNumbers(expand: (value: number, go: (kind: Kind, to: number, flaw?: string) => void) => void): Model {
  const out = new Uint8Array(1);
  return {
    width: 1,
    out,
    start: (emit) => {
      out[0] = 0;
      emit();
    },
    expand: (bytes, offset, emit: Emit) =>
      expand(bytes[offset] ?? 0, (kind, to, flaw) => {
        out[0] = to;
        emit(kind, `to ${to}`, -1, flaw ?? null);
      }),
    checkRest: (bytes, offset) => (bytes[offset] === 9 ? "rests at 9" : null),
    show: (bytes, offset) => `(${bytes[offset]})`,
  };
}

const line = (name: string, state: number): string => `${name.padEnd(34)}(${state})`;

test("every state is visited once", () => {
  const model = makeNumbers((value, go) => {
    if (value < 8) go(Kind.work, value + 1);
    if (value < 7) go(Kind.chance, value + 2);
  });
  expect(explore(model, 100)).toEqual({ states: 9, moves: 15, isComplete: true, flaw: null });
});

test("the trace of a flawed move is the shortest one", () => {
  const model = makeNumbers((value, go) => {
    if (value === 6) go(Kind.work, 7, "is 7");
    else {
      go(Kind.work, value + 1);
      go(Kind.chance, value + 3);
    }
  });
  const trace = [line("begin", 0), line("to 3", 3), line("to 6", 6), line("to 7", 7)];
  expect(explore(model, 100).flaw).toEqual({ text: "is 7", trace });
});

test("a state in which nothing is left to do is checked, whatever may happen by chance", () => {
  const model = makeNumbers((value, go) => {
    if (value === 0) go(Kind.work, 9);
    if (value === 9) go(Kind.chance, 1);
  });
  expect(explore(model, 100).flaw).toEqual({ text: "rests at 9", trace: [line("begin", 0), line("to 9", 9)] });
});

test("moves that go round for ever are a flaw, unless a move of a lower kind leads out", () => {
  const round = (kind: Kind): Model =>
    makeNumbers((value, go) => {
      go(kind, (value + 1) % 3);
      if (value === 2) go(Kind.upkeep, 3);
    });
  const numbers = (kind: Kind): Model => {
    const model = round(kind);
    return { ...model, expand: (bytes, offset, emit) => bytes[offset] !== 3 && model.expand(bytes, offset, emit) };
  };
  expect(explore(numbers(Kind.work), 100).flaw?.text).toBe("goes round for ever");
  expect(explore(numbers(Kind.time), 100).flaw).toBeNull();
});

test("an exploration ends at its bound", () => {
  const model = makeNumbers((value, go) => go(Kind.work, value + 1));
  expect(explore(model, 10)).toEqual({ states: 11, moves: 10, isComplete: false, flaw: null });
});
