// What the document is made of, for the script that makes it and for tests.
export { SESSION_COOKIE } from "../auth/session-cookie.ts";
export { routes } from "../routes/mod.ts";
export * as schemas from "../schemas.ts";
export { answerSchemas, duration, instant, labels, metadata } from "./answer-schemas.ts";
export { routeDocs } from "./route-docs.ts";
