// @ts-check

// Bundles the page of src/dashboard/page into src/dashboard/built, as texts of a module, so that it is served without a
// build step, a file system or another server. With --check it compares the module with the one in src, and fails when
// they differ.
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { rolldown } from "rolldown";

/** Most bytes of all that a browser loads together, each gzipped: the document, and the files that it names. */
const GZIPPED_MAX = 46_900;

const root = fileURLToPath(new URL("..", import.meta.url));
const target = new URL("../src/dashboard/built/page-files.ts", import.meta.url);
const page = `${root}src/dashboard/page/`;

/** The pages in the order in which they stand in the file, found by trying: gzip looks back 32 KB, so that it is smaller
 *  where those that are alike stand together. What is missing here comes after these. */
const ORDER = "timeline run runs schedule schedule-form schedules sign-in system crontab overview tasks".split(" ");

const files = [
  { name: "dashboard.js", type: "text/javascript; charset=utf-8", text: await minified(await bundled("main.tsx")) },
  { name: "dashboard.css", type: "text/css; charset=utf-8", text: await bundled("style.css") },
  { name: "dashboard.svg", type: "image/svg+xml", text: readFileSync(`${page}mark.svg`, "utf8").trim() },
];
const sizes = [await longDocument(), ...files.map(({ text }) => text)].map(
  (text) => gzipSync(text, { level: 9 }).byteLength,
);
const bytes = sizes.reduce((sum, size) => sum + size, 0);
if (bytes > GZIPPED_MAX) fail(`the page has ${bytes} bytes gzipped, more than ${GZIPPED_MAX}`);

const text = moduleText();
if (!process.argv.includes("--check")) {
  writeFileSync(target, text);
  console.log(`the page has ${bytes} bytes gzipped of ${GZIPPED_MAX}: ${sizes.join(", ")}`);
} else if (readFileSync(target, "utf8") !== text) {
  fail("src/dashboard/built/page-files.ts is not what src/dashboard/page says: run npm run build:dashboard");
}

/** @param {string} entry */
async function bundled(entry) {
  const imports = entry.endsWith(".tsx") ? ORDER.map((name) => `import "./pages/${name}.tsx";`).join("") : "";
  const { outputFiles } = await build({
    absWorkingDir: root,
    stdin: {
      contents: imports + readFileSync(page + entry, "utf8"),
      resolveDir: page,
      sourcefile: page + entry,
      loader: entry.endsWith(".tsx") ? "tsx" : "css",
    },
    // Those imports are there for the order alone.
    logOverride: { "ignored-bare-import": "silent" },
    // JSX becomes calls of h, which are smaller than those of the automatic runtime.
    tsconfigRaw: {},
    jsx: "transform",
    jsxFactory: "h",
    jsxFragment: "Fragment",
    inject: entry.endsWith(".tsx") ? [`${page}h.ts`] : [],
    bundle: true,
    write: false,
    minify: true,
    format: "esm",
    platform: "browser",
    target: ["chrome123", "firefox120", "safari17.5"],
    charset: "ascii",
    legalComments: "none",
  });
  return (outputFiles[0]?.text ?? "").trim();
}

/** The document as a router may serve it, to somebody who is signed in. */
async function longDocument() {
  const { outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: ["src/dashboard/document.ts"],
    write: false,
    format: "esm",
  });
  const code = Buffer.from(outputFiles[0]?.text ?? "").toString("base64");
  const { documentOf } = await import(`data:text/javascript;base64,${code}`);
  return documentOf("production", "/scheduler/", true);
}

/** The same once more, by another minifier: together they take 4 % off. @param {string} code */
async function minified(code) {
  const id = "\0page.js";
  const graph = await rolldown({
    input: id,
    plugins: [{ name: "page", resolveId: (name) => (name === id ? id : null), load: () => code }],
  });
  const { output } = await graph.generate({ minify: true, comments: false });
  await graph.close();
  return output[0].code.trim();
}

function moduleText() {
  const entries = files.map(({ name, type, text: body }) => {
    const etag = `"${createHash("sha256").update(body).digest("hex").slice(0, 16)}"`;
    const lines = linesOf(body).map((line) => `      ${line},`);
    return `  "${name}": {\n    type: "${type}",\n    etag: '${etag}',\n    text: [\n${lines.join("\n")}\n    ].join(""),\n  },`;
  });
  return `// Made by scripts/build-dashboard.mjs from src/dashboard/page. Do not edit.

interface PageFile {
  readonly type: string;
  readonly etag: string;
  readonly text: string;
}

/** The files that the page loads, by name. */
export const pageFiles: Readonly<Record<string, PageFile>> = {
${entries.join("\n")}
};
`;
}

/** A text as literals that fit on a line. @param {string} text */
function linesOf(text) {
  const lines = [];
  for (let start = 0; start < text.length; ) {
    let end = start + 104;
    while (JSON.stringify(text.slice(start, end)).length > 112) end -= 4;
    // A pair of surrogates stays together.
    if (/[\uD800-\uDBFF]/.test(text[end - 1] ?? "")) end--;
    lines.push(JSON.stringify(text.slice(start, end)));
    start = end;
  }
  return lines;
}

/** @param {string} message */
function fail(message) {
  console.error(message);
  process.exit(1);
}
