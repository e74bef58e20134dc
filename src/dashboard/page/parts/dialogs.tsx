import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { dismiss, setState, useStore } from "../store.ts";
import { DAY_MS, offsetMs } from "../time.ts";
import { attempt, Button, Field, type Told } from "./basics.tsx";

interface DialogProps {
  readonly title: string;
  readonly children: ComponentChildren;
  readonly onClose: () => void;
}

/** A dialog of the browser's own, which keeps the focus and ends with Esc. */
function Dialog({ title, children, onClose }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  useEffect(() => element.current?.showModal(), []);
  return (
    <dialog ref={element} aria-label={title} onClose={onClose}>
      <h2>{title}</h2>
      {children}
    </dialog>
  );
}

type FormTexts = Readonly<Record<string, string>>;

interface DialogButtonProps {
  /** What the button says, and what the dialog is called. */
  readonly words: string;
  readonly title: string;
  /** What the button of the dialog says that does it. */
  readonly action: string;
  readonly children: ComponentChildren;
  /** Does it, with what the fields hold by their ids. The dialog stays open until something was done. */
  readonly save: (given: FormTexts) => Promise<Told>;
  /** Called when something of the form changes. */
  readonly onChange?: () => void;
  readonly kind?: string;
  readonly keyHint?: string;
}

/** The fields `from` and `until`, of times that the clocks of a zone show. */
export function RangeFields({ zone }: { zone: string }) {
  return (
    <>
      <Field id="from" label={`From, in ${zone}`} type="datetime-local" required />
      <Field id="until" label={`Until, in ${zone}`} type="datetime-local" required />
    </>
  );
}

/** What these fields hold, as instants. */
export const rangeOf = ({ from = "", until = "" }: FormTexts, zone: string) => ({
  from: isoOf(from, zone),
  until: isoOf(until, zone),
});

/** The instant at which the clocks of a zone show a time, such as `2026-11-24T00:30`: the first of two. */
export function isoOf(time: string, zone: string): string {
  const wall = Date.parse(`${time}Z`);
  // By the offset of the day before, which is wrong only if clocks have been changed since.
  return new Date(wall - offsetMs(wall - offsetMs(wall - DAY_MS, zone), zone)).toISOString();
}

/** A button that opens a dialog with a form. */
export function DialogButton({ words, title, action, children, save, onChange, kind, keyHint }: DialogButtonProps) {
  const [isOpen, setOpen] = useState(false);
  const close = (): void => setOpen(false);
  return (
    <>
      <Button isWrite kind={kind ?? ""} onClick={() => setOpen(true)} {...(keyHint === undefined ? {} : { keyHint })}>
        {words}
      </Button>
      {isOpen && (
        <Dialog title={title} onClose={close}>
          <form
            onInput={onChange}
            onSubmit={async (event) => {
              event.preventDefault();
              const fields = [...new FormData(event.currentTarget)].map(([name, text]) => [name, String(text).trim()]);
              if (await attempt(async () => save(Object.fromEntries(fields)))) close();
            }}
          >
            {children}
            <div class="actions">
              <Button kind="primary" type="submit" isWrite>
                {action}
              </Button>
              <Button onClick={close}>Back</Button>
            </div>
          </form>
        </Dialog>
      )}
    </>
  );
}

export function Question() {
  const question = useStore("question");
  if (question === null) return null;
  const { title, text, action, isDanger, answer } = question;
  return (
    <Dialog title={title} onClose={() => answer(false)}>
      <p>{text}</p>
      <div class="actions">
        <Button kind={isDanger ? "primary danger" : "primary"} isWrite onClick={() => answer(true)}>
          {action}
        </Button>
        <Button onClick={() => answer(false)}>Keep things as they are</Button>
      </div>
    </Dialog>
  );
}

export function Notices() {
  const notices = useStore("notices");
  return (
    <div class="notices" role="log" aria-label="What was done">
      {notices.map(({ id, kind, text, href }) => (
        <div key={id} class={`notice ${kind}`}>
          <span>{text}</span>
          {href && <a href={href}>Open</a>}
          <button type="button" aria-label="Dismiss" onClick={() => dismiss(id)}>
            ×
          </button>
        </div>
      ))}
    </div>
  );
}

const KEYS: Readonly<Record<string, string>> = {
  "/": "search",
  "g then o, s, t or r": "Overview, Schedules, Timeline, Runs",
  "j and k": "next and previous row",
  Enter: "open the row",
  x: "select the row",
  n: "add a schedule",
  r: "run now",
  p: "pause or unpause",
  e: "edit",
  z: "whose time zone",
  "?": "this list",
  Esc: "close, or leave a field",
};

export function Help() {
  if (!useStore("isHelpOpen")) return null;
  return (
    <Dialog title="Keys" onClose={() => setState({ isHelpOpen: false })}>
      <dl class="kv">
        {Object.entries(KEYS).map(([key, does]) => [
          <dt key={key}>
            <kbd>{key}</kbd>
          </dt>,
          <dd key={does}>{does}</dd>,
        ])}
      </dl>
    </Dialog>
  );
}
