// @ts-check

// Writes docs/bounds.md from the sources. test/bounds.node.test.ts says when it is not fresh.
import { writeFileSync } from "node:fs";
import { allBounds, boundsPage } from "./lib/bounds.mjs";
import { withContents } from "./lib/pages.mjs";
import { ROOT } from "./lib/run-main.mjs";

process.chdir(ROOT);
writeFileSync("docs/bounds.md", withContents(boundsPage(allBounds(ROOT))));
