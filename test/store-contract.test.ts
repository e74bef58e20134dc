import { describe, expect, test } from "vitest";
import { dataStoreContract } from "../src/testing/data-store-contract/mod.ts";
import { sourceFiles, storeContractPage, testFiles } from "./architecture/sources.ts";

// docs/store-contract.md has the rules, and the cases of the contract test them.

/** Why no case can test a rule: a case has a store, a `now` of its own, and nothing else. */
const UNTESTED: Readonly<Record<string, string>> = {
  G2: "a case sees neither the clock that a store reads nor an event that it publishes",
  G10: "a test runner closes the stores, not the case",
  G11: "no case can make a database fail (test/stores/failure-kinds.test.ts)",
  G18: "a store that counts no requests is right, too",
  X16: "a case does not see requests (test/scheduler/tick-trips.local.test.ts)",
  A7: "it takes a transaction of an application (test/stores/prepared-jobs.ts)",
  J11: "it takes a transaction of an application (test/stores/prepared-steps.ts)",
  F16: "a case does not see what a database reads (test/stores/sqlite-flow.local.test.ts)",
  O12: "a store that learns at once is right, too",
  I13: "no case can make writes fail (test/stores/lost-files.local.test.ts)",
};

/** The rules of a page, in order. */
function rulesOf(page: string): string[] {
  return [...page.matchAll(/^- \*\*([A-Z]\d+)\*\* /gm)].map(([, rule = ""]) => rule);
}

/** What does not fit between the rules of a page, the cases, and the rules that no case tests. */
function compareRules(
  page: string,
  cases: readonly { readonly name: string; readonly rules: readonly string[] }[],
  untested: Readonly<Record<string, string>>,
): string[] {
  const rules = new Set(rulesOf(page));
  const tested = new Set(cases.flatMap((one) => one.rules));
  return [
    ...cases.filter((one) => one.rules.length === 0).map(({ name }) => `"${name}" names no rule`),
    ...[...tested].filter((rule) => !rules.has(rule)).map((rule) => `${rule} of a case is not on the page`),
    ...[...rules].filter((rule) => !tested.has(rule) && !(rule in untested)).map((rule) => `no case tests ${rule}`),
    ...Object.keys(untested).flatMap((rule) => {
      if (!rules.has(rule)) return [`${rule} is not on the page, and needs no reason`];
      return tested.has(rule) ? [`${rule} is tested, and needs no reason`] : [];
    }),
  ];
}

/** The numbers of each section of a page that are not 1, 2, 3, ..., and sections without a heading of their own. */
function misnumbered(page: string): string[] {
  const sections = page.split(/^## /m).slice(1);
  return sections.flatMap((section) => {
    const letter = /^([A-Z]): /.exec(section)?.[1] ?? "?";
    return rulesOf(section).filter((rule, index) => rule !== `${letter}${index + 1}`);
  });
}

describe("the page about the contract of stores", () => {
  test("has a case for each of its rules, except those that no case can test", () => {
    expect(rulesOf(storeContractPage).length).toBeGreaterThan(200);
    for (const [rule, reason] of Object.entries(UNTESTED)) console.log(`no case can test ${rule}: ${reason}`);
    expect(compareRules(storeContractPage, dataStoreContract, UNTESTED)).toEqual([]);
  });

  test("has reasons that name tests which exist", () => {
    const paths = new Set(testFiles.map(([path]) => path));
    const named = Object.values(UNTESTED).flatMap((reason) => reason.match(/test\/[\w/.-]+\.ts/g) ?? []);
    expect(named.length).toBeGreaterThan(3);
    expect(named.filter((path) => !paths.has(path))).toEqual([]);
  });

  test("numbers the rules of each section in order", () => {
    expect(misnumbered(storeContractPage)).toEqual([]);
  });

  test("has the rules to which comments point", () => {
    const rules = new Set(rulesOf(storeContractPage));
    const comments = sourceFiles.filter(([path]) => /^src\/stores\/(contract\/)?[^/]+$/.test(path));
    const named = comments.flatMap(([path, text]) =>
      [...text.matchAll(/^ *(?:\/\*\*|\*|\/\/) .*/gm)].flatMap(([line]) =>
        [...line.matchAll(/(?<![\w`])[A-Z]\d{1,2}(?!\w)/g)].map(([rule]) => ({ path, rule })),
      ),
    );
    expect(named.length).toBeGreaterThan(50);
    expect(named.filter(({ rule }) => !rules.has(rule))).toEqual([]);
  });
});

describe("the comparison finds", () => {
  const page = "# Page\n\n## A: one\n\n- **A1** The first.\n- **A2** The second.\n\n## B: two\n\n- **B1** The third.\n";
  const cases = [{ name: "one", rules: ["A1", "A2"] }];

  test("nothing where all fits", () => {
    expect([compareRules(page, cases, { B1: "a reason" }), misnumbered(page)]).toEqual([[], []]);
  });

  test.each([
    ["a rule that no case tests", page, cases, {}, ["no case tests B1"]],
    [
      "a rule that is not there",
      page,
      [{ name: "x", rules: ["A1", "A2", "B1", "B2"] }],
      {},
      ["B2 of a case is not on the page"],
    ],
    [
      "a case without a rule",
      page,
      [...cases, { name: "none", rules: [] }],
      { B1: "a reason" },
      ['"none" names no rule'],
    ],
    [
      "a reason without a need",
      page,
      cases,
      { B1: "a reason", A1: "a reason", C1: "a reason" },
      ["A1 is tested, and needs no reason", "C1 is not on the page, and needs no reason"],
    ],
  ])("%s", (_what, text, some, untested, expected) => {
    expect(compareRules(text, some, untested as Record<string, string>)).toEqual(expected);
  });

  test("numbers out of order", () => {
    expect(misnumbered(page.replace("**A2**", "**A3**").replace("## B", "## C"))).toEqual(["A3", "B1"]);
  });
});
