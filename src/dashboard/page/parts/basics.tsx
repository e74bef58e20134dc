import type { ComponentChildren } from "preact";
import { Refused, Unreached } from "../api.ts";
import { notify, useIsGone, useNow, useZoneMode } from "../store.ts";
import { fullText, relativeText, whenText, zoneOf } from "../time.ts";

/** Does what a button asks for, and tells what came of it. */
export async function attempt(work: () => Promise<string | { text: string; href: string } | null>): Promise<boolean> {
  try {
    const done = await work();
    if (typeof done === "string") notify("ok", done);
    else if (done !== null) notify("ok", done.text, done.href);
    return true;
  } catch (error) {
    if (!(error instanceof Refused || error instanceof Unreached)) throw error;
    notify("err", capital(error.message));
    return false;
  }
}

export function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

interface ButtonProps {
  readonly children: ComponentChildren;
  readonly onClick?: () => unknown;
  readonly kind?: string;
  /** A button that writes is off while the server does not answer. */
  readonly isWrite?: boolean;
  readonly isOff?: boolean;
  readonly label?: string | undefined;
  readonly title?: string | undefined;
  readonly keyHint?: string;
  readonly type?: "button" | "submit";
}

export function Button({
  children,
  onClick,
  kind = "",
  isWrite = false,
  isOff = false,
  label,
  title,
  keyHint,
  type = "button",
}: ButtonProps) {
  const isGone = useIsGone();
  const off = isOff || (isWrite && isGone);
  return (
    <button
      type={type}
      class={`btn ${kind}`}
      aria-label={label}
      title={title}
      aria-disabled={off ? "true" : undefined}
      aria-keyshortcuts={keyHint}
      onClick={(event) => {
        if (off) event.preventDefault();
        else if (onClick !== undefined) void onClick();
      }}
    >
      {children}
      {keyHint === undefined ? null : <kbd aria-hidden="true">{keyHint}</kbd>}
    </button>
  );
}

interface PanelProps {
  readonly title: ComponentChildren;
  readonly count?: ComponentChildren;
  readonly side?: ComponentChildren;
  readonly children: ComponentChildren;
  readonly label?: string;
}

export function Panel({ title, count, side, children, label }: PanelProps) {
  return (
    <section class="panel" aria-label={label ?? (typeof title === "string" ? title : undefined)}>
      <h2>
        {title}
        {count === undefined ? null : <span class="count">{count}</span>}
        <span class="grow" />
        {side}
      </h2>
      {children}
    </section>
  );
}

/** A fire time as `in 4 s` while it is near, and as a day and a time of day else; all of it as its title. */
export function When({ ms, zone, isNear = true }: { ms: number; zone: string | null; isNear?: boolean }) {
  const now = useNow();
  const shown = zoneOf(useZoneMode(), zone);
  const isRelative = isNear && Math.abs(ms - now) < 12 * 3_600_000;
  return (
    <time dateTime={new Date(ms).toISOString()} title={fullText(ms, shown)}>
      {isRelative ? relativeText(ms, now) : whenText(ms, shown, now)}
    </time>
  );
}

export function Loading({ rows = 6 }: { rows?: number }) {
  return (
    <div class="loading" aria-busy="true">
      <span class="visually-hidden">Loading</span>
      {Array.from({ length: rows }, (_, index) => (
        <i key={index} />
      ))}
    </div>
  );
}

export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <h2>{title}</h2>
      {children}
    </div>
  );
}

/** Why a list or a page cannot be shown. */
export function Failure({ error }: { error: Refused }) {
  return (
    <div class="callout err" role="alert">
      <b>{error.status === 404 ? "There is no such thing (any more)." : "The server refused this."}</b>
      <div>{capital(error.message)}</div>
    </div>
  );
}

/** Text for the clipboard, which browsers lack over plain http: then it is shown for copying by hand. */
export function CopyButton({ text, children, kind = "" }: { text: () => string; children: string; kind?: string }) {
  return (
    <Button
      kind={kind}
      onClick={async () => {
        try {
          await navigator.clipboard.writeText(text());
          notify("ok", "Copied.");
        } catch {
          copyByHand(text());
        }
      }}
    >
      {children}
    </Button>
  );
}

function copyByHand(text: string): void {
  const area = document.createElement("textarea");
  area.value = text;
  document.body.append(area);
  area.select();
  const isCopied = document.execCommand("copy");
  area.remove();
  notify(isCopied ? "ok" : "err", isCopied ? "Copied." : "This browser does not let pages copy over plain http.");
}

/** JSON as text, never as markup. */
export function Json({ value }: { value: unknown }) {
  return (
    <pre>
      {value === undefined
        ? "nothing"
        : typeof value === "string"
          ? JSON.stringify(value)
          : JSON.stringify(value, null, 2)}
    </pre>
  );
}

/** Names with their values; those without a value go. */
export function Facts({ rows }: { rows: readonly (readonly [name: string, value: ComponentChildren])[] }) {
  return (
    <dl class="kv">
      {rows
        .filter(([, value]) => value)
        .map(([name, value]) => [<dt key={name}>{name}</dt>, <dd key={`${name}.`}>{value}</dd>])}
    </dl>
  );
}

export function hasEntries(value: unknown): boolean {
  return Object.keys(Object(value)).length > 0;
}

interface ChipsProps {
  readonly label: string;
  readonly value: string;
  readonly options: readonly (readonly [value: string, name: ComponentChildren])[];
  readonly onChange: (value: string) => void;
}

/** A choice of one, all of which is in sight. */
export function Chips({ label, value, options, onChange }: ChipsProps) {
  return (
    <div class="chips" role="group" aria-label={label}>
      {options.map(([one, name]) => (
        <button key={one} type="button" class="chip" aria-pressed={value === one} onClick={() => onChange(one)}>
          {name}
        </button>
      ))}
    </div>
  );
}
