import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { hrefOf } from "./hash.ts";
import { retryNow } from "./live.ts";
import { Button, capital, options } from "./parts/basics.tsx";
import { Help, Notices, Question } from "./parts/dialogs.tsx";
import { Icon, Mark } from "./parts/glyph.tsx";
import {
  go,
  type State,
  setState,
  setTheme,
  setZoneMode,
  useIsGone,
  useNow,
  usePlace,
  useStore,
  useZoneMode,
} from "./store.ts";
import { clockText, MY_ZONE, roughText, type ZoneMode } from "./time.ts";

const PAGES = ["overview", "schedules", "timeline", "runs", "tasks", "system"] as const;
type PageName = (typeof PAGES)[number];

const INSTANCE = document.documentElement.dataset.instance ?? "";

/** The bar, the page in the middle, and the bar of phones. */
export function Frame({ children }: { children: ComponentChildren }) {
  const { page } = usePlace();
  const session = useStore("session");
  return (
    <>
      <button type="button" class="skip" onClick={() => document.getElementById("main")?.focus()}>
        Skip to the content
      </button>
      <header class="top">
        <a class="brand" href={hrefOf("overview")}>
          <Mark />
          escapement
          {INSTANCE === "" ? null : <span class="inst hide-s">/ {INSTANCE}</span>}
        </a>
        <nav class="main" aria-label="Pages">
          {PAGES.map((name) => (
            <PageLink key={name} name={name} page={page} />
          ))}
        </nav>
        <span class="grow" />
        <GlobalSearch />
        <ZoneSwitch kind="btn zone hide-s" />
        <Menu />
        <LiveDot />
      </header>
      <Gone />
      {session?.scope === "read" ? (
        <div class="banner calm">You may look at everything here, and change nothing.</div>
      ) : null}
      <main id="main" tabIndex={-1}>
        {children}
      </main>
      <PhoneBar page={page} />
      <Question />
      <Help />
      <Notices />
    </>
  );
}

function PageLink({ name, page }: { name: PageName; page: string }) {
  const failures = useStore("failures");
  const isBad = name === "runs" && failures > 0;
  return (
    <a href={hrefOf(name)} aria-current={page === name ? "page" : undefined}>
      {capital(name)}
      {isBad ? (
        <span class="n" aria-hidden="true" title="failed since you last looked at Runs">
          {failures}
        </span>
      ) : null}
    </a>
  );
}

function GlobalSearch() {
  const { page } = usePlace();
  // A page with a list has the search of that list.
  if (["schedules", "runs", "tasks"].includes(page)) return null;
  return (
    <form
      class="search"
      role="search"
      onSubmit={(event) => {
        event.preventDefault();
        const text = new FormData(event.currentTarget).get("search");
        go(hrefOf("schedules", null, { search: String(text) }));
      }}
    >
      <input
        name="search"
        type="search"
        aria-label="Search"
        placeholder="Search ids, tasks, errors"
        aria-keyshortcuts="/"
      />
      <kbd aria-hidden="true">/</kbd>
    </form>
  );
}

function ZoneSwitch({ kind = "" }: { kind?: string }) {
  const mode = useZoneMode();
  return (
    <select
      class={kind}
      aria-label="Show times in"
      value={mode}
      onChange={(event) => setZoneMode(event.currentTarget.value as ZoneMode)}
    >
      {options({ schedule: "each its own zone", mine: `mine: ${MY_ZONE}`, utc: "UTC" })}
    </select>
  );
}

function Menu() {
  const theme = useStore("theme");
  const next = theme === "auto" ? "dark" : theme === "dark" ? "light" : "auto";
  return (
    <>
      <Button
        kind="ghost hide-s"
        label={`Colours: ${theme}. Change to ${next}`}
        title={`Colours: ${theme}`}
        onClick={() => setTheme(next)}
      >
        {theme === "dark" ? "☾" : theme === "light" ? "☀" : "◐"}
      </Button>
      <Button kind="ghost hide-s" label="Keys" title="Keys" keyHint="?" onClick={() => setState({ isHelpOpen: true })}>
        <span class="visually-hidden">Keys</span>
      </Button>
    </>
  );
}

function LiveDot() {
  const { status } = useStore("live");
  const isGone = useIsGone();
  const words = status === "polling" ? "every 5 s" : status;
  const title =
    status === "polling"
      ? "Events of other processes do not come in, so this page asks every 5 s. An event broker would share them."
      : undefined;
  return (
    <span class={`live ${isGone ? "gone" : status === "polling" ? "slow" : ""}`} title={title}>
      <i aria-hidden="true" />
      <span role="status">{words}</span>
    </span>
  );
}

/** What stands above everything while the server does not answer. */
function Gone() {
  const { status, retryAt, seenAt } = useStore("live");
  const skewMs = useStore("skewMs");
  const now = useNow() - skewMs;
  if (!useIsGone()) return null;
  const wait = retryAt === null ? 0 : Math.max(0, Math.ceil((retryAt - now) / 1000));
  return (
    <div class="banner" role="alert">
      <b>{status === "offline" ? "This device is offline." : "The server does not answer."}</b>
      <span aria-hidden="true">{retryAt === null ? "Trying now." : `Trying again in ${wait} s.`}</span>
      <Button kind="small" onClick={() => retryNow()}>
        Try now
      </Button>
      {seenAt === null ? null : (
        <span aria-hidden="true">
          Last seen {clockText(seenAt, MY_ZONE, true)}: what you see is {roughText(now - seenAt)} old. Writing is off
          until the server answers.
        </span>
      )}
    </div>
  );
}

function PhoneBar({ page }: { page: string }) {
  const [isOpen, setOpen] = useState(false);
  const close = (): void => setOpen(false);
  return (
    <nav class="phonebar" aria-label="Pages on a phone">
      {(["overview", "schedules", "timeline", "runs"] as const).map((name) => (
        <PhoneLink key={name} name={name} page={page} onClick={close} />
      ))}
      <button type="button" aria-expanded={isOpen} aria-haspopup="true" onClick={() => setOpen(!isOpen)}>
        <Icon name="more" />
        More
      </button>
      {isOpen ? (
        <div class="more">
          {(["tasks", "system"] as const).map((name) => (
            <PhoneLink key={name} name={name} page={page} onClick={close} />
          ))}
          <PhoneChoices />
        </div>
      ) : null}
    </nav>
  );
}

function PhoneLink({ name, page, onClick }: { name: PageName; page: string; onClick: () => void }) {
  return (
    <a href={hrefOf(name)} aria-current={page === name ? "page" : undefined} onClick={onClick}>
      <Icon name={name} />
      {capital(name)}
    </a>
  );
}

function PhoneChoices() {
  const theme = useStore("theme");
  return (
    <div class="choices">
      <span>
        Times in <ZoneSwitch />
      </span>
      <label>
        Colours{" "}
        <select value={theme} onChange={(event) => setTheme(event.currentTarget.value as State["theme"])}>
          {options({ auto: "as the device", light: "light", dark: "dark" })}
        </select>
      </label>
    </div>
  );
}
