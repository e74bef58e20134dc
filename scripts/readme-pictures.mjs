// @ts-check

// Makes the pictures of the README: the page of the example, as a newcomer sees it. It needs Debian's chromium.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

const BYTES_MAX = 200_000;
const root = fileURLToPath(new URL("..", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "escapement-pictures-"));
const example = spawn(process.execPath, [`${root}scripts/start.mjs`, "--database", join(folder, "shop.db")], {
  stdio: ["ignore", "pipe", "inherit"],
});
const link = await new Promise((resolve, reject) => {
  let output = "";
  example.once("exit", () => reject(new Error(output)));
  example.stdout.on("data", (data) => {
    output += data;
    const found = /http:\S+#code=\w+/.exec(output);
    if (found !== null) resolve(found[0]);
  });
});
const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
try {
  const context = await browser.newContext({ viewport: { width: 1280, height: 760 }, timezoneId: "Europe/Berlin" });
  const page = await context.newPage();
  await page.goto(link);
  await page.getByText("Needs attention").waitFor();
  const base = link.split("#")[0];
  await page.goto(`${base}#/schedules/etl%2Forders`);
  await page.getByRole("button", { name: "Run now" }).click();
  await page.getByRole("button", { name: "Dismiss" }).click();
  await page.goto(`${base}#/overview`);
  await page.getByRole("progressbar").first().waitFor();
  await take(page, "overview");
  await page.goto(`${base}#/schedules/backup%2Fnightly`);
  await page.getByRole("button", { name: "Explain" }).nth(3).click();
  await page.getByRole("region", { name: "Why" }).getByText("Verdict").waitFor();
  await take(page, "schedule");
} finally {
  await browser.close();
  example.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
}

/** @param {import("playwright-core").Page} page @param {string} name */
async function take(page, name) {
  const path = `${root}docs/pictures/${name}.png`;
  await page.screenshot({ path });
  const { size } = statSync(path);
  if (size > BYTES_MAX) throw new Error(`${path} has ${size} bytes, more than ${BYTES_MAX}`);
  console.log(`docs/pictures/${name}.png: ${size} bytes`);
}
