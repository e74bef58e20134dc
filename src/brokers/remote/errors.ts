import { EscapementError } from "../../core/errors.ts";

/** A broker could not send events, because it has no connection, or could not be opened, because a package is missing.
 *  Schedulers go on: the others see the changes later, when they look into the store. */
export class BrokerUnavailableError extends EscapementError {
  static override readonly errorName: string = "BrokerUnavailableError";
  readonly code = "brokerUnavailable";
}
