import type { Stats } from "node:fs";
import { lstat, mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { basename, dirname, join, resolve } from "node:path";
import { type CommandCall, hasOption } from "../command.ts";
import { CliError, EXIT } from "../failure.ts";

/** Where each template is in the package, and what to do with what was written. */
const TEMPLATES: Readonly<Record<string, { readonly folder: string; readonly next: readonly string[] }>> = {
  cloudflare: {
    folder: "examples/cloudflare-template",
    next: ["npm install", "cp .dev.vars.example .dev.vars", "npm run dev"],
  },
};

/** Where the files of a template have the name of the project: in `package.json`, `wrangler.jsonc` and `README.md`. */
const NAMES_IN_FILES = /(?<="(?:database_)?name": "|d1 create )jobs\b/g;

/** Longest name of a Worker. */
const NAME_LENGTH_MAX = 63;

/** `escapement init`: the files of a new project. */
export async function run(call: CommandCall): Promise<number> {
  const { io, out, args } = call;
  const [name = "", folder = "."] = args;
  const template = Object.hasOwn(TEMPLATES, name) ? TEMPLATES[name] : undefined;
  if (template === undefined) {
    throw new CliError(`there is no template ${JSON.stringify(name)}: write ${Object.keys(TEMPLATES).join(" or ")}`);
  }
  const source = join(packageFolder(), template.folder);
  const names = await filesOf(source);
  const targets = names.map((file) => ({ file, path: join(folder, shownName(file)) }));
  const isDry = hasOption(call, "dryRun");
  if (!isDry && !hasOption(call, "force")) await assertNone(io.cwd, targets);
  for (const { file, path } of isDry ? [] : targets) {
    const target = resolve(io.cwd, path);
    await mkdir(dirname(target), { recursive: true });
    const text = await readFile(join(source, file), "utf8");
    await writeFile(target, text.replaceAll(NAMES_IN_FILES, projectName(resolve(io.cwd, folder))));
  }
  const next = [...(folder === "." ? [] : [`cd ${shellWord(folder)}`]), ...template.next];
  if (out.isJson) out.json({ files: targets.map(({ path }) => path), next });
  else {
    for (const { path } of targets) out.line(`${isDry ? "would write" : "wrote"} ${path}`);
    if (!isDry) out.line("next:");
    for (const line of isDry ? [] : next) out.line(`  ${line}`);
  }
  return EXIT.fine;
}

/** @throws {CliError} when files are there already; nothing has been written by then */
async function assertNone(cwd: string, targets: readonly { readonly path: string }[]): Promise<void> {
  const there = new Set<string>();
  const factsOf = (look: (path: string) => Promise<Stats>, path: string): Promise<Stats | null> =>
    look(resolve(cwd, path)).catch(() => null);
  for (const { path } of targets) {
    const folder = dirname(path);
    // A link that leads nowhere is there, too: it would be written through.
    if ((await factsOf(lstat, path)) !== null) there.add(path);
    else if ((await factsOf(lstat, folder)) !== null && (await factsOf(stat, folder))?.isDirectory() !== true) {
      there.add(folder);
    }
  }
  if (there.size === 0) return;
  const lines = [...[...there].map((path) => `  ${path}`), "  name another folder, or overwrite them by --force"];
  throw new CliError("nothing was written, because these are there already:", {
    lines,
    exitCode: EXIT.found,
    code: "exists",
  });
}

/** The name of a folder as Workers, databases and packages may be called: small letters, digits and hyphens. */
function projectName(folder: string): string {
  const name = basename(folder)
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-");
  return name.slice(0, NAME_LENGTH_MAX).replaceAll(/^-+|-+$/g, "") || "jobs";
}

/** A path as a word of a shell, whichever that is. */
function shellWord(path: string): string {
  const word = path.startsWith("-") ? `./${path}` : path;
  if (/^[\w./\\:@-]+$/.test(word)) return word;
  return /["$`!]/.test(word) ? `'${word.replaceAll("'", "'\\''")}'` : `"${word}"`;
}

/** npm packs no file of the name `.gitignore`. */
function shownName(file: string): string {
  return file.replace(/^_gitignore$/, ".gitignore");
}

async function filesOf(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map(({ name, parentPath }) => join(parentPath.slice(folder.length + 1), name))
    .sort();
}

/** The package finds itself by its name, whichever file of it asks. */
function packageFolder(): string {
  return dirname(createRequire(import.meta.url).resolve("escapement/package.json"));
}
