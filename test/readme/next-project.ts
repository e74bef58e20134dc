import { copyFile, cp, mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { transform } from "esbuild";
import { run, runOk } from "../package/run.ts";
import { ROOT } from "../package/stage.ts";
import { Child } from "../support/child.ts";
import { lowered } from "./programs.ts";
import { codeOf } from "./servers.ts";

const SOURCES = join(ROOT, "test/readme/next");
const OFFLINE = /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH/;
const ROUTE = "app/api/scheduler/[[...path]]/route";
const PAGE = "pages/api/jobs/[[...path]]";

/** The environment of Next.js: Vitest has a `NODE_ENV` of its own. */
const environment = { NODE_ENV: "production", NEXT_TELEMETRY_DISABLED: "1", NEXT_MANUAL_SIG_HANDLE: "true" };

/**
 * Installs Next.js of `test/readme/next/package-lock.json`, and what a project has installed beside it.
 *
 * @param packages the folder `node_modules` of that project
 * @returns why the registry gives no packages, or null
 */
export async function installNext(folder: string, packages: string): Promise<string | null> {
  await mkdir(folder, { recursive: true });
  for (const name of ["package.json", "package-lock.json"]) await copyFile(join(SOURCES, name), join(folder, name));
  const install = ["npm", "ci", "--prefer-offline", "--ignore-scripts", "--no-audit", "--no-fund", "--fetch-retries=1"];
  const { exitCode, output } = await run(install, { cwd: folder });
  if (exitCode !== 0 && OFFLINE.test(output)) return `Next.js cannot be installed: ${OFFLINE.exec(output)?.[0]}`;
  if (exitCode !== 0) throw new Error(`npm ci ended with ${exitCode}:\n${output}`);
  // Copies, because Next.js bundles nothing from outside of its folder.
  for (const name of ["escapement", "temporal-polyfill", "temporal-utils", "hono", "@hono/node-server"]) {
    await cp(join(packages, name), join(folder, "node_modules", name), { recursive: true, dereference: true });
  }
  return null;
}

/** Builds the routes of the documentation. @returns what Next.js printed */
export async function buildNext(folder: string): Promise<string> {
  const files = {
    [`${ROUTE}.js`]: await exampleOf(ROUTE),
    [`${PAGE}.js`]: await exampleOf(PAGE),
    "app/api/cron/route.js": await readFile(join(SOURCES, "cron.js"), "utf8"),
    "pages/api/pages/[[...path]].js": await readFile(join(SOURCES, "page.js"), "utf8"),
    "scheduler.js": await readFile(join(SOURCES, "scheduler.js"), "utf8"),
    "next.config.mjs": codeOf("next.config.mjs"),
    "the-scheduler.js": await lowered(codeOf("the-scheduler.js")),
    "instrumentation.js": await lowered(codeOf("instrumentation.js")),
  };
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
  return runOk(["node", "node_modules/next/dist/bin/next", "build"], { cwd: folder, env: environment });
}

/** An example as JavaScript, which takes the scheduler of the project. */
async function exampleOf(name: string): Promise<string> {
  const example = await readFile(join(ROOT, `examples/http/next/${name}.ts`), "utf8");
  // Next.js looks for `export const`, which esbuild keeps where it is told no format.
  const { code } = await transform(example, { loader: "ts", target: "es2022" });
  // The examples share a scheduler that is one folder above the project.
  return code.replace(/"\.\.\/(?<path>[./]*scheduler)\.ts"/, '"$<path>.js"');
}

/** Serves what was built. */
export function startNext(node: string, folder: string, variables: Readonly<Record<string, string>>): Child {
  const next = join(folder, "node_modules/next/dist/bin/next");
  return new Child([node, next, "start", folder, "-p", "0", "-H", "127.0.0.1"], { ...environment, ...variables });
}
