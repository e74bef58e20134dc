import { type ComponentChildren, h } from "preact";
import { Refused, Unreached } from "../api.ts";
import { hrefOf } from "../hash.ts";
import { go, notify, useCanWrite, useIsGone, useNow, useZone } from "../store.ts";
import { fullText, relativeText, whenText } from "../time.ts";

/** What to tell when something was done; null where nothing was. */
export type Told = string | { readonly text: string; readonly href: string } | null;

/** Does what a button asks for, and tells what came of it. @returns whether something was done */
export async function attempt(work: () => Promise<Told>): Promise<boolean> {
  try {
    const done = await work();
    if (typeof done === "string") notify("ok", done);
    else if (done !== null) notify("ok", done.text, done.href);
    return done !== null;
  } catch (error) {
    // A SyntaxError is of JSON that somebody typed.
    if (!(error instanceof Refused || error instanceof Unreached || error instanceof SyntaxError)) throw error;
    notify("bad", capital(error.message));
    return false;
  }
}

export function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** `1 run`, `2,000 runs`. */
export function many(count: number, noun: string): string {
  return `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;
}

interface ButtonProps {
  readonly children: ComponentChildren;
  readonly onClick?: () => unknown;
  readonly kind?: string;
  /** A button that writes is off while the server does not answer, and is not there for who may only look. */
  readonly isWrite?: boolean;
  readonly isOff?: boolean;
  readonly label?: string | undefined;
  readonly title?: string | undefined;
  readonly keyHint?: string;
  readonly type?: "button" | "submit";
}

export function Button({ children, onClick, kind = "", isWrite, isOff, keyHint, label, title, type }: ButtonProps) {
  const isGone = useIsGone();
  const canWrite = useCanWrite();
  const off = isOff === true || (isWrite === true && isGone);
  if (isWrite === true && !canWrite) return null;
  return (
    <button
      type={type ?? "button"}
      class={`btn ${kind}`}
      aria-label={label}
      title={title}
      aria-disabled={off ? "true" : undefined}
      aria-keyshortcuts={keyHint}
      onClick={(event) => {
        if (off) event.preventDefault();
        else void onClick?.();
      }}
    >
      {children}
      {keyHint && <kbd aria-hidden="true">{keyHint}</kbd>}
    </button>
  );
}

/** A button that changes something, and tells what came of it. */
export function Act({ work, ...button }: Omit<ButtonProps, "onClick" | "isWrite"> & { work: () => Promise<Told> }) {
  return <Button {...button} isWrite onClick={() => attempt(work)} />;
}

/** The ways to add schedules. */
export function AddButtons() {
  return (
    <>
      <Button isWrite onClick={() => go(hrefOf("crontab"))}>
        Paste a crontab
      </Button>
      <Button isWrite kind="primary" keyHint="n" onClick={() => go(hrefOf("add"))}>
        Add schedule
      </Button>
    </>
  );
}

/** Where a page is, below which others. */
export function Crumbs({ of }: { of: readonly (readonly [name: string, href: string] | false | null)[] }) {
  return (
    <div class="crumbs">
      {of.map(
        (one) =>
          one && (
            <>
              <a href={one[1]}>{one[0]}</a> /{" "}
            </>
          ),
      )}
    </div>
  );
}

interface PanelProps {
  readonly title: string;
  readonly count?: ComponentChildren;
  readonly side?: ComponentChildren;
  readonly children: ComponentChildren;
}

export function Panel({ title, count, side, children }: PanelProps) {
  return (
    <section class="panel" aria-label={title}>
      <h2>
        {title}
        <span class="count">{count}</span>
        <span class="grow" />
        {side}
      </h2>
      {children}
    </section>
  );
}

/** Text within a panel that has nothing more to show. */
export function Calm({ children }: { children: ComponentChildren }) {
  return <p class="calm-text">{children}</p>;
}

/** A fire time as `in 4 s` while it is near, and as a day and a time of day else; all of it as its title. */
export function When({ ms, zone }: { ms: number; zone: string | null }) {
  const now = useNow();
  const shown = useZone(zone);
  return (
    <time dateTime={new Date(ms).toISOString()} title={fullText(ms, shown)}>
      {Math.abs(ms - now) < 12 * 3_600_000 ? relativeText(ms, now) : whenText(ms, shown, now)}
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

interface EmptyProps {
  readonly title: string;
  readonly children?: ComponentChildren;
  /** Whether it is all of the page, and not a list in it. */
  readonly isPage?: boolean;
}

export function Empty({ title, children, isPage }: EmptyProps) {
  return (
    <div class="empty">
      {isPage ? <h1>{title}</h1> : <h2>{title}</h2>}
      {children}
    </div>
  );
}

/** Why a list or a page cannot be shown; nothing for null. */
export function Failure({ error }: { error: Refused | null }) {
  return (
    error && (
      <div class="callout error spaced" role="alert">
        <b>{error.status === 404 ? "There is no such thing (any more)." : "The server refused this."}</b>
        <div>{capital(error.message)}</div>
      </div>
    )
  );
}

/** Text for the clipboard, which browsers lack over plain http: then it is copied the old way. */
export function CopyButton({ text, children, kind }: { text: () => string; children: string; kind?: string }) {
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text());
      notify("ok", "Copied.");
    } catch {
      copyByHand(text());
    }
  };
  return (
    <Button kind={kind ?? ""} onClick={copy}>
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
  if (isCopied) notify("ok", "Copied.");
  else notify("bad", "This browser does not let pages copy over plain http.");
}

/** JSON as text, never as markup. */
export function Json({ value }: { value: unknown }) {
  return <pre>{value === undefined ? "nothing" : JSON.stringify(value, null, 2)}</pre>;
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

interface FieldProps {
  readonly id: string;
  readonly label: string;
  readonly tag?: "input" | "textarea" | "select";
  readonly hint?: ComponentChildren;
  /** What is wrong with it, in the place of the hint. */
  readonly problem?: string | null | undefined;
  readonly set?: (value: string) => void;
  /** Choices of a select. */
  readonly children?: ComponentChildren;
  // What inputs have.
  readonly class?: string;
  readonly type?: string;
  readonly list?: string;
  readonly rows?: number;
  readonly value?: string;
  readonly defaultValue?: string;
  readonly placeholder?: string;
  readonly maxLength?: number;
  readonly autocomplete?: string;
  readonly required?: boolean;
  readonly readOnly?: boolean;
  readonly disabled?: boolean;
}

/** A field of a form: its label, its input, and what is to be said of it. */
export function Field({ id, label, tag = "input", hint, problem, set, ...input }: FieldProps) {
  const said = problem ?? hint;
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {h<Record<string, unknown>>(tag, {
        id,
        name: id,
        class: "input",
        "aria-describedby": said ? `${id}-hint` : undefined,
        "aria-invalid": problem ? "true" : undefined,
        onInput: set && ((event: { currentTarget: HTMLInputElement }) => set(event.currentTarget.value)),
        ...input,
      })}
      {said && (
        <div id={`${id}-hint`} class={problem ? "problem" : "hint"}>
          {said}
        </div>
      )}
    </div>
  );
}

/** Choices of a `Field` whose tag is a select. */
export function options(of: Readonly<Record<string, string>>): ComponentChildren {
  return Object.entries(of).map(([value, words]) => (
    <option key={value} value={value}>
      {words}
    </option>
  ));
}
