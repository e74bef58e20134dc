import { existsSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { describe, expect, test } from "vitest";
import { chaptersOf, llmsText, pagesOf, withContents } from "../scripts/lib/pages.mjs";
import { ROOT } from "./package/stage.ts";

const pages = pagesOf(ROOT);
const textOf = (page: string) => readFileSync(join(ROOT, page), "utf8");

describe.each([...pages, "CHANGELOG.md", "llms.txt", "bench/README.md"])("%s", (page) => {
  test("links to files and chapters that are there, or to the web", () => {
    expect(deadLinks(page, textOf(page))).toEqual([]);
  });
});

test("a dead link is one to no file, or to no chapter of a page", () => {
  const text = "[a](no.md) [b](README.md#guides) [c](#no) ![d](docs/no.png) [e](https://example.org#no)\n`[f](no.md)`";
  const picture = ' <img src="no.png" alt="">';
  expect(deadLinks("SECURITY.md", text + picture)).toEqual(["no.md", "#no", "docs/no.png", "no.png"]);
});

describe.each(pages)("the chapters of %s", (page) => {
  test("are listed below its title if it is long (npm run docs:contents)", () => {
    expect(textOf(page)).toBe(withContents(textOf(page)));
  });
});

test("the chapters of a text have the anchors of a repository's page", () => {
  const text = "# A: `b.c`, d?\n\n## Same\n\n```sh\n# no chapter\n```\n\n## Same\n\n### A [link](x.md) & Co\n";
  expect(chaptersOf(text)).toEqual([
    { depth: 1, text: "A: `b.c`, d?", anchor: "a-bc-d" },
    { depth: 2, text: "Same", anchor: "same" },
    { depth: 2, text: "Same", anchor: "same-1" },
    { depth: 3, text: "A link & Co", anchor: "a-link--co" },
  ]);
});

test("the list of chapters is written anew, and taken off a page that has become short", () => {
  const long = `# A\n\n## B\n\n## C\n${"\n".repeat(200)}`;
  const listed = withContents(long);
  expect(listed.slice(0, 80)).toContain("# A\n\n<!-- contents -->\n[B](#b) ·\n[C](#c)\n<!-- /contents -->\n\n## B");
  expect(withContents(listed.replace("## C", "## D"))).toContain("[B](#b) ·\n[D](#d)\n");
  expect(withContents(listed.replaceAll(/\n{3,}/g, "\n"))).toBe("# A\n\n## B\n\n## C\n");
});

test("docs/README.md links to each page of the documentation", () => {
  const linked = new Set(linksOf(textOf("docs/README.md")).map((target) => join("docs", target.replace(/#.*/, ""))));
  const unlinked = pages.filter((page) => page.startsWith("docs/") && page !== "docs/README.md" && !linked.has(page));
  expect(unlinked).toEqual([]);
});

test("docs/doors.md has a row for each door of the package", () => {
  const { exports: doors } = JSON.parse(textOf("deno.json")) as { exports: Record<string, string> };
  const text = textOf("docs/doors.md");
  const names = Object.keys(doors).map((door) => door.replace(/^\./, "escapement"));
  expect(names.filter((name) => !text.includes(`\n| \`${name}\` | `))).toEqual([]);
});

test("llms.txt has what docs/README.md has (npm run docs:contents)", () => {
  expect(textOf("llms.txt")).toBe(llmsText(textOf("docs/README.md")));
});

/** The targets of links and pictures of a text, without code. */
function linksOf(text: string): string[] {
  const prose = text.replace(/^( *)```[^\n]*\n[\s\S]*?^\1```/gm, "").replace(/`[^`\n]*`/g, "");
  return [...prose.matchAll(/\]\(([^)\s]+)[^)]*\)| src="([^"]+)"/g)].map(([, link, picture]) => link ?? picture ?? "");
}

/** The links of a page that lead nowhere. */
function deadLinks(page: string, text: string): string[] {
  return linksOf(text).filter((target) => {
    if (/^https?:/.test(target)) return false;
    const [path = "", anchor] = target.split("#");
    const file = path === "" ? page : relative(ROOT, join(ROOT, dirname(page), path));
    if (!existsSync(join(ROOT, file))) return true;
    if (anchor === undefined || !file.endsWith(".md")) return false;
    const chapters = chaptersOf(path === "" ? text : textOf(file));
    return chapters.every((chapter) => chapter.anchor !== anchor);
  });
}
