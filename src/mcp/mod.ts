/**
 * Schedules for agents: the Model Context Protocol, over a router or any other transport.
 *
 * @module
 */

export type { McpRouter } from "./call-tool.ts";
export { type Mcp, type McpOptions, mcp } from "./mcp.ts";
export { mcpServer } from "./server.ts";
