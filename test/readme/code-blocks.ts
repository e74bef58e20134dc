/** A fenced `ts` block of a Markdown text, and what the comments right before it ask for. */
export interface CodeBlock {
  /** One-based line of the block's first line of code. */
  readonly line: number;
  /** The code, after that of the blocks it continues. */
  readonly code: string;
  /** Why the block is not run, or null. */
  readonly skipReason: string | null;
  /** What the program must print, or the Worker answer with. */
  readonly expected: readonly string[];
  /** Whether the block is the main module of a Cloudflare Worker. */
  readonly isWorker?: true;
  /** The name of the file that the block is: it is not run, and the other blocks of the text find it beside them. */
  readonly file?: string;
}

const FENCE = /^(?<indent> *)```(?<language>\w*)[^\n]*\n(?<code>[\s\S]*?)^\k<indent>```/gm;
const COMMENTS_BEFORE = /(?:<!--(?:(?!-->)[\s\S])*-->\s*)+$/;
const DIRECTIVE = /<!--\s*test:\s*(?<verb>\w+)\s*(?<rest>(?:(?!-->)[\s\S])*?)\s*-->/g;

/**
 * The `ts` blocks of a Markdown text, in order. Comments before a block say how it is tested:
 *
 *     <!-- test: skip because it needs a server -->    not run; the reason is printed
 *     <!-- test: expect "text" -->                     must print the text, and is ended when all of them came
 *     <!-- test: worker -->                            is a Worker, and runs in workerd
 *     <!-- test: file "tasks.js" -->                   is a file beside the programs of the text, and is not run
 *     <!-- test: continues -->                         runs after the code of the block before it
 *     <!-- test: after CODE -->                        runs after code that the text does not show
 *
 * @throws {Error} on a directive that it does not know: a misspelt one would silently not test
 */
export function extractCodeBlocks(markdown: string): CodeBlock[] {
  const blocks: CodeBlock[] = [];
  for (const match of markdown.matchAll(FENCE)) {
    const { indent = "", language, code = "" } = match.groups ?? {};
    if (language !== "ts" && language !== "typescript") continue;
    const line = markdown.slice(0, match.index).split("\n").length + 1;
    const directives = [...(COMMENTS_BEFORE.exec(markdown.slice(0, match.index))?.[0] ?? "").matchAll(DIRECTIVE)];
    let skipReason: string | null = null;
    let before = "";
    const expected: string[] = [];
    let isWorker = false;
    let file: string | null = null;
    for (const { groups: { verb = "", rest = "" } = {} } of directives) {
      if (verb === "skip" && /^because\s+\S/.test(rest)) skipReason = rest.replace(/^because\s+/, "");
      else if (verb === "expect" && /^".*"$/.test(rest)) expected.push(JSON.parse(rest));
      else if (verb === "file" && /^"[\w.-]+"$/.test(rest)) file = JSON.parse(rest);
      else if (verb === "worker" && rest === "") isWorker = true;
      else if (verb === "continues" && blocks.length > 0) before = `${blocks.at(-1)?.code}\n`;
      else if (verb === "after" && rest !== "") before = `${rest}\n`;
      else throw new Error(`line ${line}: unknown directive "test: ${verb} ${rest}"`);
    }
    const outdented = indent === "" ? code : code.replaceAll(new RegExp(`^${indent}`, "gm"), "");
    blocks.push({
      line,
      code: before + outdented,
      skipReason,
      expected,
      ...(isWorker && { isWorker }),
      ...(file !== null && { file }),
    });
  }
  return blocks;
}
