// @ts-check

// Writes the lists of chapters on long pages, and llms.txt. test/pages.node.test.ts says when they are not fresh.
import { readFileSync, writeFileSync } from "node:fs";
import { llmsText, pagesOf, withContents } from "./lib/pages.mjs";
import { ROOT } from "./lib/run-main.mjs";

process.chdir(ROOT);
for (const page of pagesOf(ROOT)) {
  const text = readFileSync(page, "utf8");
  if (withContents(text) !== text) writeFileSync(page, withContents(text));
}
writeFileSync("llms.txt", llmsText(readFileSync("docs/README.md", "utf8")));
