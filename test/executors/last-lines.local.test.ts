import { expect, test } from "vitest";
import { LastLines } from "../../src/executors/process/process-channel.ts";

test("the last lines of an output have neither colours nor the lines of a stack", () => {
  const lines = new LastLines();
  lines.add("\u001b[0m\u001b[1m\u001b[31merror\u001b[0m: Uncaught Error: no disk\n");
  lines.add("    \u001b[0m\u001b[2m\u001b[38;5;245mat \u001b[0mrun (file:///tasks.js:1:2)\n\u001b[31m    ^\u001b[0m\n");
  expect(String(lines)).toBe("error: Uncaught Error: no disk");
});
