// @ts-check

// What the pages of the documentation have in common: chapters and their anchors, lists of chapters, the list of pages.

import { readdirSync } from "node:fs";

/** The texts for people, by their paths in the repository. @param {string} root */
export function pagesOf(root) {
  const inFolder = (/** @type {string} */ folder) =>
    readdirSync(`${root}/${folder}`)
      .filter((name) => name.endsWith(".md"))
      .map((name) => `${folder}/${name}`);
  const folders = ["docs", "docs/guides", "docs/migrate"];
  return ["README.md", "CONTRIBUTING.md", "SECURITY.md", ...folders.flatMap(inFolder)];
}

const LONG_FROM = 200;
const CONTENTS = /<!-- contents -->\n[\s\S]*?\n<!-- \/contents -->\n\n/;

const ABOUT = `# Escapement

> A persistent job scheduler for TypeScript, on Node, Deno, Bun and Cloudflare Workers. Schedules, jobs and results live in a database
> (SQLite, libSQL, Turso, D1, a Durable Object); several instances share it, each fire time is enqueued at most once, time zones and
> changes of clocks follow a stated rule, and \`scheduler.explain(id, at)\` says what became of each fire time and why.

A task is an id, a handler and settings; a trigger is a rule that gives fire times; a schedule joins both under an id; a job is one run; a
result is how it ended. \`import { Scheduler } from "escapement"\`; stores have doors of their own, such as \`escapement/sqlite\`. Every \`ts\`
block of these pages is run by a test.
`;

/**
 * The chapters of a page, with the anchors that a repository's page gives them.
 *
 * @param {string} markdown
 * @returns {{ depth: number, text: string, anchor: string }[]}
 */
export function chaptersOf(markdown) {
  const prose = markdown.replace(/^( *)```[^\n]*\n[\s\S]*?^\1```/gm, "");
  const seen = /** @type {Map<string, number>} */ (new Map());
  return [...prose.matchAll(/^(#{1,6}) (.+)$/gm)].map(([, marks = "", title = ""]) => {
    const text = title.replace(/\[([^\]]+)\]\([^)]*\)/g, "$1").trim();
    const slug = anchorOf(text);
    const count = seen.get(slug) ?? 0;
    seen.set(slug, count + 1);
    return { depth: marks.length, text, anchor: count === 0 ? slug : `${slug}-${count}` };
  });
}

/** The anchor that a repository's page gives to a heading. @param {string} text @returns {string} */
export function anchorOf(text) {
  return text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, "")
    .replace(/\s/g, "-");
}

/**
 * A page with a list of its chapters below the title if it is long, and without one if it is not.
 *
 * @param {string} markdown
 */
export function withContents(markdown) {
  const bare = markdown.replace(CONTENTS, "");
  if (bare.split("\n").length <= LONG_FROM) return bare;
  const links = chaptersOf(bare).flatMap(({ depth, text, anchor }) => (depth === 2 ? `[${text}](#${anchor})` : []));
  return bare.replace(
    /^# .+\n\n/m,
    (title) => `${title}<!-- contents -->\n${links.join(" ·\n")}\n<!-- /contents -->\n\n`,
  );
}

/**
 * The list of pages for language models (https://llmstxt.org), made of the index that people read.
 *
 * @param {string} index the text of docs/README.md
 */
export function llmsText(index) {
  const parts = chaptersOfIndex(index).map(({ text, items }) => {
    const lines = items.map(({ text: name, path, about }) => `- [${name}](${path})${about === "" ? "" : `: ${about}`}`);
    return `\n## ${text}\n\n${lines.join("\n")}\n`;
  });
  return ABOUT + parts.join("");
}

/**
 * The chapters of the index, and the pages in each: their names, paths, links of a site, and what they are about.
 *
 * @param {string} index the text of docs/README.md
 */
export function chaptersOfIndex(index) {
  return index
    .split("\n## ")
    .slice(1)
    .map((chapter) => {
      const [text = "", ...lines] = chapter.split("\n");
      return { text, items: lines.flatMap(entriesOf) };
    });
}

/** @param {string} line of the index */
function entriesOf(line) {
  const about = line.startsWith("|") ? (line.split("|")[2] ?? "").trim() : "";
  return [...line.matchAll(/\[([^\]]+)\]\(([^)]+)\)/g)].map(([, name = "", target = ""]) => {
    const path = target.startsWith("../") ? target.slice("../".length) : `docs/${target}`;
    const link = `/${path.replace(/README\.md$/, "").replace(/\.md$/, "")}`;
    return { text: `${name.charAt(0).toUpperCase()}${name.slice(1)}`, path, link, about };
  });
}
