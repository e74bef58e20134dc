// @ts-check

// Builds the pages and the reference as a site with search, in docs/site/dist. VitePress has a lockfile of its own, in
// docs/site, and is installed there when it is missing: nothing else needs it.
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { chaptersOfIndex, pagesOf } from "./lib/pages.mjs";
import { ROOT } from "./lib/run-main.mjs";

const site = join(ROOT, "docs/site");
const source = join(site, "pages");
const dist = join(site, "dist");

if (!existsSync(join(site, "node_modules/vitepress")))
  run("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund"], site);
rmSync(source, { recursive: true, force: true });
rmSync(dist, { recursive: true, force: true });
for (const path of [...pagesOf(ROOT), "CHANGELOG.md", "bench/README.md"]) {
  mkdirSync(dirname(join(source, path)), { recursive: true });
  // Vite takes a path without a dot as the name of a package.
  const text = readFileSync(join(ROOT, path), "utf8").replaceAll(' src="docs/', ' src="./docs/');
  writeFileSync(join(source, path), text);
}
cpSync(join(ROOT, "docs/pictures"), join(source, "docs/pictures"), { recursive: true });
const sidebar = chaptersOfIndex(readFileSync(join(ROOT, "docs/README.md"), "utf8"));
mkdirSync(join(source, ".vitepress"));
writeFileSync(
  join(source, ".vitepress/config.mjs"),
  `import { siteConfig } from "../../config.mjs";\nexport default siteConfig(${JSON.stringify(sidebar)});\n`,
);
run("npx", ["vitepress", "build", "pages", "--outDir", dist], site);

const { exports: doors } = JSON.parse(readFileSync(join(ROOT, "deno.json"), "utf8"));
const modules = Object.values(/** @type {Record<string, string>} */ (doors));
run("npx", ["deno", "doc", "--html", "--name=Escapement", `--output=${join(dist, "reference")}`, ...modules], ROOT);
for (const name of ["examples", "llms.txt", "LICENSE"]) cpSync(join(ROOT, name), join(dist, name), { recursive: true });
rmSync(source, { recursive: true, force: true });
console.log(`\nThe site is in ${dist}: npx --prefix docs/site vite preview, or any server of files, shows it.`);

/** @param {string} command @param {string[]} args @param {string} cwd */
function run(command, args, cwd) {
  const { status } = spawnSync(command, args, { cwd, stdio: "inherit" });
  if (status !== 0) throw new Error(`${command} ${args[0]} ended with ${status}`);
}
