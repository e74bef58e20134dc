import { describe, expect, test } from "vitest";
import { drain } from "../../src/testing/mod.ts";
import { setUpRouter } from "./support.ts";

const TOKENS = { reader: "r".repeat(32), writer: "w".repeat(32) };

describe("GET /jobs/:id/logs", () => {
  async function asked(options: Parameters<typeof setUpRouter>[0] = {}) {
    const auth = {
      tokens: [
        { token: TOKENS.reader, scope: "read" as const, name: "reader" },
        { token: TOKENS.writer, scope: "write" as const, name: "writer" },
      ],
    };
    const setup = setUpRouter({ auth, ...options });
    setup.scheduler.task("t", { keepLogs: {} }, (_, { logger }) => {
      logger.info("card 4111", { card: "4111", size: 2 });
      logger.error("failed", new Error("no paper"));
    });
    const { id } = await setup.scheduler.addJob("t");
    await drain(setup.scheduler);
    const as = async (who: keyof typeof TOKENS) => {
      const headers = { authorization: `Bearer ${TOKENS[who]}` };
      const { status, body } = await setup.ask(`GET /jobs/${id}/logs`, undefined, headers);
      return { status, text: JSON.stringify(body), body };
    };
    return { ...setup, as };
  }

  test("shows lines and fields, and stacks to those who may write", async () => {
    const { as } = await asked();
    const [reader, writer] = [await as("reader"), await as("writer")];
    expect(reader.body).toMatchObject({
      items: [
        {
          attempt: 1,
          dropped: 0,
          lines: [
            { level: "info", message: "card 4111", fields: { card: "4111", size: 2 } },
            { level: "error", message: "failed", fields: { error: { message: "no paper" } } },
          ],
        },
      ],
      cursor: null,
    });
    expect([reader.text.includes("stack"), writer.text.includes("stack")]).toEqual([false, true]);
  });

  test.each<[string, (value: unknown) => unknown]>([
    ["an object", (value) => JSON.parse(JSON.stringify(value).replaceAll("4111", "****"))],
    ["a text", () => "hidden"],
    ["nothing", () => undefined],
    [
      "what throws",
      () => {
        throw new Error("oh no");
      },
    ],
  ])("hides what redact hides, which returned %s", async (_what, redact) => {
    const seen: unknown[] = [];
    const { as } = await asked({
      redact: (value, shown) => {
        seen.push(shown);
        return redact(value);
      },
    });
    const { status, text } = await as("writer");
    expect([status, text.includes("4111")]).toEqual([200, false]);
    expect(seen).toContainEqual({ taskId: "t", field: "log", scope: "write" });
  });

  test("knows no job that never existed", async () => {
    const { ask } = setUpRouter();
    expect(await ask("GET /jobs/nothing/logs")).toMatchObject({ status: 404 });
  });
});
