import type { Labels } from "../../../records/policies.ts";

/** The details of jobs and results begin with their labels, if they have any, so that a trigger sees it at once. */
export const BEGINNING = '{"labels":';

/** How details begin: with the labels, where there are any. Another field has to follow. */
export function beginDetails(labels: Labels | undefined): string {
  return labels === undefined ? "{" : `${BEGINNING}${JSON.stringify(labels)},`;
}

/** A parameter of the filters below: the names and values; null for any. */
export function labelsParameter(labels: Labels | undefined): string | null {
  return labels === undefined ? null : JSON.stringify(Object.entries(labels));
}

/** Whether one of some records has labels. */
export function hasLabelled(records: readonly { readonly labels?: Labels | null }[]): boolean {
  return records.some(({ labels }) => labels);
}

/** How many labels a filter has. */
export function labelCount(labels: Labels | undefined): number {
  return Object.keys(labels ?? {}).length;
}
