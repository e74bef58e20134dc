import { describe, expect, test } from "vitest";
import type { NoticeRecord } from "../../src/contracts.ts";
import type { NoticeContext } from "../../src/notices/mod.ts";
import { discord, type Notice, ntfy, slack } from "../../src/notices/mod.ts";
import { noticeOf } from "../../src/notices/notice.ts";

const AT = Date.parse("2030-01-31T09:00:01Z");
const RUN = { at: AT, taskId: "mail", scheduleId: "report", fireTime: AT - 1000, jobId: "job" } as const;

function made(metadata: unknown, error: unknown = null): Promise<Notice> {
  const scheduler = { getJobResult: async () => ({ error }) };
  return noticeOf({ job: { metadata }, scheduler } as unknown as NoticeContext);
}

const RECORDS: readonly NoticeRecord[] = [
  { type: "failed", ...RUN, outcome: "error" },
  { type: "recovered", ...RUN, outcome: "success" },
  { type: "succeeded", ...RUN, outcome: "success" },
  { type: "overdue", ...RUN, kind: "start", dueAt: AT },
  { type: "overdue", ...RUN, jobId: null, kind: "finish", dueAt: AT },
  { type: "paused", at: AT, taskId: "mail", scheduleId: "report", key: null, by: "ada", reason: "why", until: AT },
  { type: "paused", at: AT, taskId: "mail", scheduleId: null, key: null, by: null, reason: null, until: null },
  { type: "paused", at: AT, taskId: "mail", scheduleId: null, key: "tenant", by: "ada", reason: null, until: null },
];

test("each notice says in a line what happened", async () => {
  const texts: string[] = [];
  for (const record of RECORDS) texts.push((await made(record)).text);
  expect(texts).toEqual([
    'Schedule "report" failed: its run of 2030-01-31T09:00:00Z ended with error',
    'Schedule "report" works again: its run of 2030-01-31T09:00:00Z succeeded.',
    'Schedule "report" succeeded: its run of 2030-01-31T09:00:00Z succeeded.',
    'Schedule "report" is overdue: its run of 2030-01-31T09:00:00Z has not started by 2030-01-31T09:00:01Z.',
    'Schedule "report" is overdue: its run of 2030-01-31T09:00:00Z has not ended by 2030-01-31T09:00:01Z.',
    'Schedule "report" was paused by ada until 2030-01-31T09:00:01Z because: why',
    'Task "mail" was paused',
    'The key "tenant" of task "mail" was paused by ada',
  ]);
});

test("a failure has the error of its result, cut, and every field is there", async () => {
  const failed = await made(RECORDS[0], { name: "Error", message: `😀${"x".repeat(600)}` });
  expect(failed).toEqual({
    type: "failed",
    timestamp: "2030-01-31T09:00:01Z",
    text: `Schedule "report" failed: its run of 2030-01-31T09:00:00Z ended with Error: ${failed.data.error?.message}`,
    data: {
      ...{ taskId: "mail", scheduleId: "report", fireTime: "2030-01-31T09:00:00Z", jobId: "job", outcome: "error" },
      error: { name: "Error", message: `😀${"x".repeat(495)}...` },
      ...{ kind: null, dueAt: null, key: null, by: null, reason: null, until: null },
    },
  });
});

test("a job that somebody added by hand is no notice", async () => {
  for (const metadata of [{}, { type: "failed" }, { type: "robot", at: AT }]) {
    await expect(made(metadata)).rejects.toThrow(/the job is no notice/);
  }
});

describe("text of a notice makes in a chat", () => {
  const hostile = 'Schedule "<!channel> & *x* @everyone [a](http://evil) `c`" failed';
  const notice = { type: "failed", timestamp: "", text: hostile } as Notice;

  test("neither links nor mentions of Slack", () => {
    const text = '🔴 Schedule "&lt;!channel&gt; &amp; *x* @everyone [a](http://evil) `c`" failed';
    expect(slack(notice)).toEqual({ text });
  });

  test("neither mentions nor marks of Discord", () => {
    const { content, allowed_mentions } = discord(notice);
    expect(allowed_mentions).toEqual({ parse: [] });
    expect(content).toBe('🔴 Schedule "\\<!channel\\> & \\*x\\* \\@everyone \\[a\\]\\(http://evil\\) \\`c\\`" failed');
  });

  test("one message of ntfy, which is urgent for failures", () => {
    const body = { topic: "alerts", message: hostile, tags: ["red_circle"], priority: 4 };
    expect(ntfy("alerts")(notice)).toEqual(body);
    expect(ntfy("alerts")({ ...notice, type: "paused" }).priority).toBe(3);
  });

  test("no more than the service takes", () => {
    const long = { ...notice, text: "<".repeat(10_000) };
    expect(slack(long).text.length).toBeLessThanOrEqual(3000);
    expect(discord(long).content.length).toBeLessThanOrEqual(2000);
    expect(ntfy("alerts")(long).message.length).toBeLessThanOrEqual(4096);
  });
});
