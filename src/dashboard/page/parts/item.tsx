import type { ComponentChildren } from "preact";
import type { Tone } from "../verdicts.ts";
import { Said } from "./glyph.tsx";

interface ItemProps {
  readonly tone: Tone;
  readonly name: string;
  readonly href?: string;
  readonly what: ComponentChildren;
  readonly side?: ComponentChildren;
  /** Buttons. */
  readonly children?: ComponentChildren;
  readonly bar?: ComponentChildren;
  readonly label?: string;
  readonly kind?: string;
}

/** A row of a list that is no table: a glyph, a name, what there is to say, and what can be done. */
export function Item({ tone, name, href, what, side, children, bar, label, kind = "" }: ItemProps) {
  return (
    <li class={`row ${kind}`} data-row aria-label={label}>
      <Said tone={tone} words="" />
      {href === undefined ? (
        <b class="name">{name}</b>
      ) : (
        <a class="name" href={href}>
          {name}
        </a>
      )}
      {bar}
      <span class="what" title={typeof what === "string" ? what : undefined}>
        {what}
      </span>
      <span class="dim">{side}</span>
      <span class="actions">{children}</span>
    </li>
  );
}

/** How far a run is; of one that does not say it, a bar that is full and pale. */
export function ProgressBar({ fraction, name }: { fraction: number | null; name: string }) {
  const percent = Math.round((fraction ?? 1) * 100);
  const facts =
    fraction === null
      ? { "aria-hidden": "true" as const }
      : {
          role: "progressbar" as const,
          "aria-label": `Progress of ${name}`,
          "aria-valuenow": percent,
          "aria-valuemin": 0,
          "aria-valuemax": 100,
        };
  return (
    <div class="progress" {...facts}>
      <svg width="100%" height="6" aria-hidden="true">
        <rect class="rail" width="100%" height="6" rx="3" />
        <rect class={fraction === null ? "f running unsure" : "f running"} width={`${percent}%`} height="6" rx="3" />
      </svg>
    </div>
  );
}
