import { CATCHING_UP } from "./catch-up-mutants.ts";
import { STEPS } from "./commit-mutants.ts";
import { FLOWS } from "./flow-mutants.ts";
import { LEASES } from "./lease-mutants.ts";
import { LEDGERS } from "./ledger-mutants.ts";
import type { Mutant } from "./mutant.ts";
import { OVERLAPS } from "./overlap-mutants.ts";
import { PLANS } from "./plan-mutants.ts";
import { VERSIONS } from "./version-mutants.ts";

export const MUTANTS: readonly Mutant[] = [
  ...PLANS,
  ...STEPS,
  ...LEASES,
  ...VERSIONS,
  ...OVERLAPS,
  ...CATCHING_UP,
  ...FLOWS,
  ...LEDGERS,
];
