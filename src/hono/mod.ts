/**
 * A scheduler behind HTTP: routes for schedules, jobs, results, tasks and health, as a Hono app.
 *
 * @module
 */

export type { Api, ApiSchema, Endpoints, Problem } from "./api.ts";
export type { Authenticate, Caller, RouterAuth, Scope, TokenAuth, TokenGrant } from "./auth/auth-options.ts";
export { createRouter, type Router, type RouterScheduler } from "./create-router.ts";
export type { InsightSource } from "./insight-source.ts";
export type { MetricsSource, RouterOptions } from "./options.ts";
export type { Redact, ShownValue } from "./redaction.ts";
export type { McpSource } from "./serve-mcp.ts";
export type { PageSource } from "./serve-page.ts";
