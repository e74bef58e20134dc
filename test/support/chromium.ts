import { existsSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { build } from "esbuild";
import { chromium } from "playwright-core";
import { HANG_MS } from "./hang.ts";

const CHROMIUM = "/usr/bin/chromium";
const CHROMIUM_ARGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** What a page has beside its script. */
interface Site {
  /** The texts of other scripts, by path, such as `/worker.js`. */
  readonly scripts?: Readonly<Record<string, string>>;
  /** Whether the page is isolated from other sites, and so may share memory with its workers. Default: false. */
  readonly isIsolated?: boolean;
}

/** What a module assigns to `globalThis.answer`, once a page in Chromium has run it. */
export async function answerInChromium(script: string, site: Site = {}): Promise<unknown> {
  if (!existsSync(CHROMIUM)) {
    throw new Error(`${CHROMIUM} is missing; install it with: apt-get update && apt-get install -y chromium`);
  }
  await using server = await serve(script, site);
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: CHROMIUM_ARGS, timeout: HANG_MS });
  try {
    const tab = await browser.newPage();
    const failed = new Promise<never>((_, reject) => tab.on("pageerror", reject));
    const answered = async (): Promise<unknown> => {
      await tab.goto(server.url, { timeout: HANG_MS });
      await tab.waitForFunction("globalThis.answer !== undefined", undefined, { timeout: HANG_MS });
      return tab.evaluate("globalThis.answer");
    };
    return await Promise.race([failed, answered()]);
  } finally {
    await browser.close();
  }
}

/** A module as esbuild bundles it for browsers, from a folder in which packages are found. */
export async function bundleForBrowser(source: string, folder: string): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents: source, resolveDir: folder },
    bundle: true,
    write: false,
    minify: true,
    format: "esm",
    platform: "browser",
    target: "es2022",
  });
  return outputFiles[0]?.text ?? "";
}

async function serve(script: string, site: Site): Promise<{ url: string } & AsyncDisposable> {
  const scripts = new Map(Object.entries({ ...site.scripts, "/page.js": script }));
  const server = createServer(({ url = "" }, response) => {
    const text = scripts.get(url);
    if (site.isIsolated === true) {
      response.setHeader("cross-origin-opener-policy", "same-origin");
      response.setHeader("cross-origin-embedder-policy", "require-corp");
    }
    if (text !== undefined) response.setHeader("content-type", "text/javascript").end(text);
    else if (url !== "/") response.writeHead(404).end();
    else {
      response.setHeader("content-type", "text/html; charset=utf-8");
      response.end('<!doctype html><link rel="icon" href="data:,"><script type="module" src="/page.js"></script>');
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/`,
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
