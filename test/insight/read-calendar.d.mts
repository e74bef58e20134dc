export function eventsOf(text: string): { uid: string; at: string; summary: string; description: string }[];
export function datesOf(text: string): string[];
