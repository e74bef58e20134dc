import { optionError } from "../../core/option-errors.ts";
import type { ChangeOptions } from "../../scheduler/options/options.ts";
import type { RouterAuth } from "./auth-options.ts";

const REFUSED =
  "is refused, because the router knows its callers: leave it out, and the name of your token (or the name that the " +
  'function auth tells) stands there; with auth "none", a request may give it';

/**
 * Who a change is by: the caller that the gate let in. Where everybody is let in, whom the request names.
 * @param where the route
 * @throws {OptionsError} for a name in a request of a caller that has one, or could have: nobody writes under the name
 *   of another
 */
export function changeOptions(
  auth: RouterAuth,
  caller: string | undefined,
  given: string | undefined,
  where: string,
): ChangeOptions {
  if (given !== undefined && auth !== "none") throw optionError(where, "by", REFUSED);
  const by = given ?? caller;
  return by === undefined ? {} : { by };
}
