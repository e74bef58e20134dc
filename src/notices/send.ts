import type { AbortSignal } from "../core/abort-signal.ts";
import { NonRetryableError } from "../core/errors.ts";
import { NoticeError } from "./notice-error.ts";

/** One request. */
interface NoticeRequest {
  /** For errors. */
  readonly channel: string;
  readonly url: string;
  readonly method: "GET" | "POST";
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  readonly signal: AbortSignal;
}

/** Statuses after which another try may succeed, besides those of 500 and more. */
const PASSING: ReadonlySet<number> = new Set([408, 409, 425, 429]);

/**
 * Sends a request, and follows no redirect: the receiver could send secrets and payloads to where the program never
 * meant them to go. Nothing of the answer is read but its status.
 * @throws {NoticeError} when another try may succeed
 * @throws {NonRetryableError} when none will
 * @throws the signal's reason
 */
export async function send({ channel, url, method, headers, body, signal }: NoticeRequest): Promise<void> {
  const problem = (what: string): string => `the notice of "${channel}" was not sent: ${what}`;
  let response: Response;
  try {
    response = await fetch(url, {
      ...{ method, headers, redirect: "manual", signal: signal as globalThis.AbortSignal },
      ...(body === null ? {} : { body }),
    });
  } catch (error) {
    signal.throwIfAborted();
    // The texts of runtimes have the URL in them.
    throw new NoticeError(problem(`the receiver cannot be reached${codeIn(error)}`));
  }
  const { status, type } = response;
  // Whatever the receiver goes on to send.
  await response.body?.cancel().catch(() => {});
  if (status >= 200 && status < 300) return;
  if (type === "opaqueredirect" || (status >= 300 && status < 400)) {
    throw new NonRetryableError(problem("the receiver answered with a redirect, which is not followed"));
  }
  const answer = problem(`the receiver answered with status ${status}`);
  if (status >= 500 || PASSING.has(status)) throw new NoticeError(answer, status);
  throw new NonRetryableError(answer);
}

/** A code such as `ECONNREFUSED`, which tells nothing of the URL. */
function codeIn(error: unknown): string {
  const { code, cause } = (error ?? {}) as { code?: unknown; cause?: { code?: unknown } };
  const found = [cause?.code, code].find((one) => typeof one === "string" && /^[A-Z][A-Z_]{2,39}$/.test(one));
  return found === undefined ? "" : ` (${String(found)})`;
}
