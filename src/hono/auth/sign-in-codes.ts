import type { Clock } from "../../core/clock.ts";
import { optionError } from "../../core/option-errors.ts";
import { newSecret } from "../../core/secret.ts";
import { SIGN_IN_CODE_MS, SIGN_IN_CODES_MAX } from "./limits.ts";

/** What the codes of a router need. */
interface CodeSetup {
  readonly clock: Clock;
  readonly tokens: readonly string[];
}

/** Codes that sign in once each, in the place of a token. A guess at 256 random bits finds none, whatever time the
 *  look-up takes. */
export class SignInCodes {
  readonly #setup: CodeSetup;
  /** What each code stands for, the oldest first. */
  readonly #codes = new Map<string, { readonly token: string; readonly expiresAtMs: number }>();

  constructor(setup: CodeSetup) {
    this.#setup = setup;
  }

  /** @throws {OptionsError} for a token that is none of the router's */
  add(token: string): string {
    if (!this.#setup.tokens.includes(token)) {
      throw optionError("signInCode()", "token", "must be one of auth.tokens");
    }
    const code = newSecret();
    this.#codes.set(code, { token, expiresAtMs: this.#setup.clock.now() + SIGN_IN_CODE_MS });
    const [oldest] = this.#codes.keys();
    if (this.#codes.size > SIGN_IN_CODES_MAX && oldest !== undefined) this.#codes.delete(oldest);
    return code;
  }

  /** The token that an unused code stands for; the code counts no more. */
  take(code: string): string | undefined {
    const known = this.#codes.get(code);
    this.#codes.delete(code);
    return known !== undefined && known.expiresAtMs > this.#setup.clock.now() ? known.token : undefined;
  }
}
