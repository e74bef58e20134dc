import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { dismiss, type State, setState, useStore } from "../store.ts";
import { Button } from "./basics.tsx";

/** A dialog of the browser's own, which keeps the focus and ends with Esc. */
export function Dialog({
  title,
  children,
  onClose,
}: {
  title: string;
  children: ComponentChildren;
  onClose: () => void;
}) {
  const element = useRef<HTMLDialogElement>(null);
  useEffect(() => element.current?.showModal(), []);
  return (
    <dialog ref={element} aria-label={title} onClose={onClose}>
      <div class="inner">
        <h2>{title}</h2>
        {children}
      </div>
    </dialog>
  );
}

const questionOf = (state: State) => state.question;
const noticesOf = (state: State) => state.notices;
const isHelpOpenIn = (state: State) => state.isHelpOpen;

export function Question() {
  const question = useStore(questionOf);
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
  const notices = useStore(noticesOf);
  return (
    <div class="notices" role="log" aria-label="What was done">
      {notices.map(({ id, kind, text, href }) => (
        <div key={id} class={`notice ${kind}`}>
          <span>{text}</span>
          {href === undefined ? null : <a href={href}>Open</a>}
          <button type="button" aria-label="Dismiss" onClick={() => dismiss(id)}>
            ×
          </button>
        </div>
      ))}
    </div>
  );
}

const KEYS: readonly (readonly [string, string])[] = [
  ["/", "search"],
  ["g then o, s, t or r", "Overview, Schedules, Timeline, Runs"],
  ["j and k", "next and previous row"],
  ["Enter", "open the row"],
  ["x", "select the row"],
  ["n", "add a schedule"],
  ["r", "run now"],
  ["p", "pause or unpause"],
  ["e", "edit"],
  ["z", "whose time zone"],
  ["?", "this list"],
  ["Esc", "close, or leave a field"],
];

export function Help() {
  if (!useStore(isHelpOpenIn)) return null;
  return (
    <Dialog title="Keys" onClose={() => setState({ isHelpOpen: false })}>
      <dl class="kv">
        {KEYS.map(([key, does]) => [
          <dt key={key}>
            <kbd>{key}</kbd>
          </dt>,
          <dd key={does}>{does}</dd>,
        ])}
      </dl>
    </Dialog>
  );
}
