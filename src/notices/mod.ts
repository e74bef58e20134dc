/**
 * Notices of failures, recoveries, overdue runs and pauses: to webhooks, chats and dead-man services.
 *
 * @module
 */
export type { NoticeType } from "../records/notice.ts";
export type { NoticeChannel, NoticeContext } from "../scheduler/options/notice-channel.ts";
export { discord, ntfy, slack } from "./bodies.ts";
export type { Notice, NoticeData } from "./notice.ts";
export { NoticeError } from "./notice-error.ts";
export { type PingOptions, ping } from "./ping.ts";
export { type WebhookBody, type WebhookOptions, webhook } from "./webhook.ts";
