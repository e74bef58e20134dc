// @ts-check

import { writeFileSync } from "node:fs";

const REPORT_PATH = process.env.ESCAPEMENT_TEST_REPORT ?? "test-report.json";

/**
 * Counts what a vitest run did and writes it, as JSON, to the file that `ESCAPEMENT_TEST_REPORT` names. A file that
 * cannot be loaded and an error outside of any test count as one failed test each.
 */
export default class CheckReporter {
  /** @type {Set<string>} */
  #running = new Set();

  /** @param {import("vitest/node").TestModule} module */
  onTestModuleStart(module) {
    this.#running.add(module.relativeModuleId);
    this.#writeRunning();
  }

  /** @param {import("vitest/node").TestModule} module */
  onTestModuleEnd(module) {
    this.#running.delete(module.relativeModuleId);
    this.#writeRunning();
  }

  /**
   * @param {readonly import("vitest/node").TestModule[]} modules
   * @param {readonly unknown[]} unhandledErrors
   */
  onTestRunEnd(modules, unhandledErrors) {
    const report = {
      passed: 0,
      failed: unhandledErrors.length,
      skipped: /** @type {{ name: string, reason: string | null }[]} */ ([]),
      // What tests want to be read even when they pass: `annotate(...)` in a test.
      notes: /** @type {string[]} */ ([]),
    };
    for (const module of modules) {
      if (module.errors().length > 0) report.failed++;
      for (const suite of module.children.allSuites()) if (suite.errors().length > 0) report.failed++;
      for (const test of module.children.allTests()) {
        const result = test.result();
        for (const { message } of test.annotations()) report.notes.push(message);
        if (result.state === "passed") report.passed++;
        else if (result.state === "failed") report.failed++;
        else
          report.skipped.push({
            name: `${module.relativeModuleId} > ${test.fullName}`,
            reason: skipReason(test, result),
          });
      }
    }
    writeFileSync(REPORT_PATH, JSON.stringify(report));
  }

  /** A run that is ended because it hangs leaves no report: this names the files to look at. */
  #writeRunning() {
    writeFileSync(`${REPORT_PATH}.running`, [...this.#running].join(", "));
  }
}

/**
 * @param {import("vitest/node").TestCase} test
 * @param {import("vitest/node").TestResult} result
 */
function skipReason(test, result) {
  if ("note" in result && result.note !== undefined) return result.note;
  const isSetupFailed = test.parent.errors().length > 0 || test.module.errors().length > 0;
  return isSetupFailed ? "what it needs could not be set up" : null;
}
