import { SIGN_IN_REFILL_MS, SIGN_INS_MAX } from "../../core/limits.ts";

/**
 * Bounds how often somebody may guess a token at the sign-in. It counts all callers together, because nothing here
 * knows their addresses for sure. Who has a session or sends a bearer token is not counted, and so is not locked out.
 */
export class SignInLimit {
  #left = SIGN_INS_MAX;
  #refilledAtMs = 0;

  /** Takes an attempt, before its token is looked at. @returns 0, or the milliseconds until there is one again */
  take(nowMs: number): number {
    // A clock that was set back must not stop the refill.
    if (this.#left === SIGN_INS_MAX || nowMs < this.#refilledAtMs) this.#refilledAtMs = nowMs;
    const count = Math.floor((nowMs - this.#refilledAtMs) / SIGN_IN_REFILL_MS);
    this.#left = Math.min(SIGN_INS_MAX, this.#left + count);
    this.#refilledAtMs += count * SIGN_IN_REFILL_MS;
    if (this.#left === 0) return this.#refilledAtMs + SIGN_IN_REFILL_MS - nowMs;
    this.#left -= 1;
    return 0;
  }

  /** Gives back the attempt of somebody who had a token. */
  giveBack(): void {
    this.#left = Math.min(SIGN_INS_MAX, this.#left + 1);
  }
}
