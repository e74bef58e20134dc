import { cutTo, type Notice } from "./notice.ts";

// Bodies for chats. What they show of a notice is its line of text.

/** What a chat shows before the text. */
const MARKS: Readonly<Record<Notice["type"], { readonly emoji: string; readonly tag: string }>> = {
  failed: { emoji: "🔴", tag: "red_circle" },
  recovered: { emoji: "🟢", tag: "green_circle" },
  succeeded: { emoji: "🟢", tag: "green_circle" },
  overdue: { emoji: "🟠", tag: "orange_circle" },
  paused: { emoji: "⏸️", tag: "pause_button" },
};

/** Longest texts that the services take, in UTF-16 units, with some room. */
const SLACK_LENGTH_MAX = 3000;
const DISCORD_LENGTH_MAX = 1900;
const NTFY_LENGTH_MAX = 3000;

/**
 * The body of an incoming webhook of Slack, or of what takes the same, such as Mattermost and Rocket.Chat. Text of the
 * notice makes neither links nor mentions.
 * @example
 * webhook({ url: process.env.SLACK_URL, on: ["failed", "recovered"], body: slack });
 */
export function slack({ type, text }: Notice): { readonly text: string } {
  const escaped = text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
  return { text: cutTo(`${MARKS[type].emoji} ${escaped}`, SLACK_LENGTH_MAX) };
}

/**
 * The body of a webhook of Discord. Text of the notice makes no mentions.
 * @example
 * webhook({ url: process.env.DISCORD_URL, on: ["failed", "recovered"], body: discord });
 */
export function discord({ type, text }: Notice): {
  readonly content: string;
  readonly allowed_mentions: { readonly parse: readonly never[] };
} {
  const escaped = text.replace(/[\\*_~`|>#[\]()<@-]/g, "\\$&");
  return { content: cutTo(`${MARKS[type].emoji} ${escaped}`, DISCORD_LENGTH_MAX), allowed_mentions: { parse: [] } };
}

/**
 * The body for a server of ntfy, whose URL is that of the server, without the topic.
 * @param topic what is subscribed to
 * @example
 * webhook({ url: "https://ntfy.sh", on: ["failed", "recovered"], body: ntfy("my-alerts") });
 */
export function ntfy(topic: string): (notice: Notice) => {
  readonly topic: string;
  readonly message: string;
  readonly tags: readonly string[];
  readonly priority: number;
} {
  return ({ type, text }) => ({
    topic,
    message: cutTo(text, NTFY_LENGTH_MAX),
    tags: [MARKS[type].tag],
    priority: type === "failed" || type === "overdue" ? 4 : 3,
  });
}
