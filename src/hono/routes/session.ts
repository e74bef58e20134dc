import { instantTextOrNull } from "../../core/temporal.ts";
import { SESSION_BODY_BYTES_MAX } from "../limits.ts";
import { Refusal } from "../refusal.ts";
import type { Routes } from "../route.ts";
import * as schemas from "../schemas.ts";

/** The sessions of pages. Where the router has tokens, its gate answers those that begin and end sessions before they
 *  come here. */
export const sessionRoutes: Routes<"GET /session" | "POST /session" | "DELETE /session"> = {
  "GET /session": {
    scope: "read",
    handle: async ({ caller: { scope, caller: name = null, sessionEnd = null } }) => ({
      status: 200,
      body: { scope, name, expiresAt: instantTextOrNull(sessionEnd) },
    }),
  },
  "POST /session": {
    scope: "none",
    bodyBytesMax: SESSION_BODY_BYTES_MAX,
    body: schemas.sessionBody,
    handle: noSessions,
  },
  "DELETE /session": { scope: "none", handle: noSessions },
};

function noSessions(): Promise<never> {
  return Promise.reject(new Refusal(404, "notFound", "the router has no sessions, because its auth has no tokens"));
}
