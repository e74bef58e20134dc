import type { TestViolation } from "./test-rules.ts";

/** Source text of a test that breaks a rule, or none. */
interface TestFixture {
  readonly name: string;
  readonly text: string;
}

export const TEST_VIOLATIONS: readonly (TestFixture & { readonly breaks: TestViolation["rule"] })[] = [
  {
    name: "an expected duration",
    text: "const startedAt = performance.now();\nwork();\nexpect(performance.now() - startedAt).toBeLessThan(20);",
    breaks: "clock",
  },
  {
    name: "an expected duration that has a name",
    text: "const start = Date.now(); work(); const ms = (Date.now() - start) / 20; expect(ms).toBeLessThan(20);",
    breaks: "clock",
  },
  {
    name: "a duration that is assigned later",
    text: "let took = 0; { took = performance.now() - took; } expect({ took: 5 }).toEqual({ took: Math.round(took) });",
    breaks: "clock",
  },
  {
    name: "the clock in a matcher",
    text: "expect(job.createdAt).toBeLessThan(Date.now() + 1000);",
    breaks: "clock",
  },
  { name: "a new Date()", text: "expect(next.getTime()).toBeGreaterThan(new Date().getTime());", breaks: "clock" },
  {
    name: "the host's clock by Temporal",
    text: "expect(Temporal.Now.instant().since(at).seconds).toBe(0);",
    breaks: "clock",
  },
  {
    name: "the high-resolution clock",
    text: "const t = process.hrtime.bigint(); expect(t).toBe(5n);",
    breaks: "clock",
  },
  { name: "a test's time limit", text: 'test("a", () => {\n  work();\n}, 60_000);', breaks: "limit" },
  { name: "a computed time limit", text: 'it("a", () => work(), 60 * 1000);', breaks: "limit" },
  { name: "a named time limit", text: 'test("a", async () => {}, TIMEOUT_MS);', breaks: "limit" },
  {
    name: "a time limit among a test's options",
    text: 'test("a", { retry: 1, timeout: 5_000 }, () => {});',
    breaks: "limit",
  },
  { name: "a time limit of many tests", text: 'test.each([[1], [2]])("a %i", (n) => work(n), 5000);', breaks: "limit" },
  { name: "a hook's time limit", text: "beforeAll(() => install(), 180_000);", breaks: "limit" },
];

export const TEST_ACCEPTED: readonly TestFixture[] = [
  {
    name: "a clock that bounds a wait",
    text: "const end = Date.now() + HANG_MS;\nwhile (Date.now() < end) await ready();\nexpect(isReady).toBe(true);",
  },
  {
    name: "a virtual clock",
    text: "const start = clock.now(); await clock.advance(5); expect(clock.now() - start).toBe(5);",
  },
  {
    name: "a name that holds a time elsewhere",
    text: "{ const a = Date.now(); wait(a); }\n{ const a = 5; expect(a).toBe(5); }",
  },
  { name: "a clock that is replaced", text: "const { now } = Date; Date.now = () => 5; expect(next()).toBe(6);" },
  { name: "a date that is given", text: "expect(new Date(5).getTime()).toBe(Date.UTC(1970, 0, 1) + 5);" },
  { name: "the clock in a comment or a text", text: '// expect(Date.now())\nexpect(message).toBe("Date.now()");' },
  { name: "numbers before the body", text: 'test.each([5, 6])("a %i", (n) => { run(n, 5); });' },
  {
    name: "a limit that is a task's",
    text: 'test("a", () => { scheduler.task("t", { timeout: "PT1S" }, work, 5); });',
  },
  { name: "options without a limit", text: 'test("a", { retry: { timeout: 1 } }, () => {});' },
  { name: "a test without a body", text: 'test.todo("a"); test("b");' },
  { name: "a method of that name", text: "pattern.test(text, 5);" },
];
