import type { Logger } from "./logger.ts";

/** What a scheduler says to a broker or an executor that it opens. Where several schedulers share the part, those of
 *  the first count. */
export interface OpenOptions {
  /** The scheduler's log. Default: nobody is told. */
  readonly logger?: Logger | undefined;
}
