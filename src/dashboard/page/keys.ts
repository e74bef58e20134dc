import { getState, go, setState, setZoneMode } from "./store.ts";

// Keys do what a button or link of the page does, so that nothing can be done by keys alone: a row has
// `data-row`, and what a key does is marked with `aria-keyshortcuts`.

const PLACES: Readonly<Record<string, string>> = { o: "overview", s: "schedules", t: "timeline", r: "runs" };
const ZONE_MODES = ["schedule", "mine", "utc"] as const;

let isAfterG = false;

export function listenToKeys(): void {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || getState().session == null) return;
    if (event.key === "Escape") return leave();
    if (isTyping(event.target) || document.querySelector("dialog[open]") !== null) return;
    if (act(event.key)) event.preventDefault();
    isAfterG = event.key === "g";
  });
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.closest("input:not([type=checkbox]), textarea, select") !== null;
}

function leave(): void {
  if (document.activeElement instanceof HTMLElement) document.activeElement.blur();
}

function act(key: string): boolean {
  const place = isAfterG ? PLACES[key] : undefined;
  if (place !== undefined) go(`#/${place}`);
  else if (key === "?") setState({ isHelpOpen: true });
  else if (key === "z") nextZone();
  else if (key === "j" || key === "k") move(key === "j" ? 1 : -1);
  else if (key === "x") currentRow()?.querySelector<HTMLElement>("input[type=checkbox]")?.click();
  else if (["/", "n", "r", "p", "e"].includes(key)) return press(key);
  else return false;
  return true;
}

/** Presses what is marked with the key: in the current row, else in the page. */
function press(key: string): boolean {
  const marked = `[aria-keyshortcuts="${key}"]`;
  const found =
    currentRow()?.querySelector<HTMLElement>(marked) ??
    document.querySelector<HTMLElement>(`:not([data-row] *)${marked}`);
  if (found instanceof HTMLInputElement) found.focus();
  else found?.click();
  return found != null;
}

function nextZone(): void {
  const at = ZONE_MODES.indexOf(getState().zoneMode);
  setZoneMode(ZONE_MODES[(at + 1) % ZONE_MODES.length] ?? "schedule");
}

function currentRow(): HTMLElement | null {
  return document.activeElement?.closest<HTMLElement>("[data-row]") ?? null;
}

/** Moves the focus to the link of the next row. */
function move(step: number): void {
  const rows = [...document.querySelectorAll<HTMLElement>("[data-row]")];
  const row = currentRow();
  const at = row === null ? (step > 0 ? -1 : rows.length) : rows.indexOf(row);
  const next = rows[at + step];
  next?.querySelector<HTMLElement>("a")?.focus();
  next?.scrollIntoView({ block: "nearest" });
}
