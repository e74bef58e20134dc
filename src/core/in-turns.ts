import { type Clock, yieldToEventLoop } from "./clock.ts";

/** Carries steps out, so many in one turn of the event loop. Each should take a millisecond or two. */
export async function inTurns<T>(steps: Iterator<unknown, T>, stepsOfTurn = 1): Promise<T> {
  for (let done = 1; ; done++) {
    const step = steps.next();
    if (step.done === true) return step.value;
    if (done % stepsOfTurn === 0) await yieldToEventLoop();
  }
}

/** Items that a list converts in one turn of the event loop: a schedule with its fire times may take a millisecond. */
const ITEMS_OF_TURN = 16;

/** Converts a list, in turns of the event loop. */
export function mapInTurns<A, B>(items: Iterable<A>, convert: (item: A, place: number) => B): Promise<B[]> {
  function* steps(): Generator<void, B[]> {
    const converted: B[] = [];
    for (const item of items) {
      converted.push(convert(item, converted.length));
      yield;
    }
    return converted;
  }
  return inTurns(steps(), ITEMS_OF_TURN);
}

export const REMEMBERED_MS = 5000;
/** Most answers that are kept, because each may be a page of records. */
const REMEMBERED_MAX = 16;
/** Most questions that are being answered, or wait for it: the others are refused. */
const UNANSWERED_MAX = 16;

/** So many other questions wait that one more is refused. */
export class TooManyQuestions extends Error {
  constructor() {
    super(`${UNANSWERED_MAX} other questions that take long wait for their answers: ask again in some seconds`);
  }
}

/** Answers that are dear: one is made at a time, and each counts for five seconds. */
export class DearAnswers<T> {
  readonly #clock: Pick<Clock, "now">;
  /** By question, those that were asked last at the end. An answer that is being made has no time yet. */
  readonly #answers = new Map<string, { readonly answer: Promise<T>; madeAt: number | null }>();
  #last: Promise<unknown> = Promise.resolve();
  #unanswered = 0;

  constructor(clock: Pick<Clock, "now">) {
    this.#clock = clock;
  }

  /** An answer that fails counts for those alone who wait for it.
   *  @throws {TooManyQuestions} while 16 others wait */
  async of(question: string, make: () => Promise<T>): Promise<T> {
    const known = this.#answers.get(question);
    const age = this.#clock.now() - (known?.madeAt ?? this.#clock.now());
    if (known !== undefined && age >= 0 && age < REMEMBERED_MS) return known.answer;
    if (this.#unanswered >= UNANSWERED_MAX) throw new TooManyQuestions();
    this.#unanswered++;
    const answer = this.#last.then(make);
    const kept: { readonly answer: Promise<T>; madeAt: number | null } = { answer, madeAt: null };
    this.#answers.delete(question);
    this.#answers.set(question, kept);
    const [oldest] = this.#answers.keys();
    if (this.#answers.size > REMEMBERED_MAX && oldest !== undefined) this.#answers.delete(oldest);
    this.#last = answer.then(
      () => {
        this.#unanswered--;
        kept.madeAt = this.#clock.now();
      },
      () => {
        this.#unanswered--;
        if (this.#answers.get(question) === kept) this.#answers.delete(question);
      },
    );
    return answer;
  }
}
