import type { ComponentChildren, ComponentType } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { allOf, type Load, type ShownPage } from "../api.ts";
import { setQuery, useCanWrite } from "../store.ts";
import type { Pages } from "../use-pages.ts";
import { Button, Failure, Loading, options } from "./basics.tsx";
import { VirtualRows } from "./virtual.tsx";

/** A name, the class of its head, and what to say of it. */
export type Column = readonly [name: string, kind?: string, title?: string];

/** What somebody has selected. */
export interface Chosen<T> {
  readonly items: readonly T[];
  /** How many: the items, or all that match on the server. */
  readonly count: number;
  readonly isAll: boolean;
}

interface ListProps<T extends { readonly id: string }> {
  /** What the rows are called: `schedules`. */
  readonly noun: string;
  readonly pages: Pages<T>;
  readonly columns: readonly Column[];
  /** The cells of a row, but the one that selects it. */
  readonly Cells: ComponentType<{ readonly item: T }>;
  /** What can be done to those that are selected. */
  readonly bulk: (chosen: Chosen<T>, clear: () => void) => ComponentChildren;
  /** Loads the list, where "all that match" can be said to the server. */
  readonly loadAll: Load | null;
  /** What stands there in the place of no rows. */
  readonly empty: ComponentChildren;
}

/** A list with its rows in sight, of which some or all can be selected. */
export function List<T extends { readonly id: string }>(props: ListProps<T>) {
  const { noun, pages, columns, Cells, bulk, loadAll, empty } = props;
  const { items, error, isComplete, more } = pages;
  const canWrite = useCanWrite();
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const [total, setTotal] = useState<number | null>(null);
  const select = (ids: Iterable<string>): void => {
    setSelected(new Set(ids));
    setTotal(null);
  };
  const toggle = (id: string): void =>
    select(selected.has(id) ? [...selected].filter((one) => one !== id) : [...selected, id]);
  const clear = (): void => select([]);
  const isAllShown = items?.every(({ id }) => selected.has(id)) === true;
  const check = (label: string, isOn: boolean, onChange: () => void) => (
    <input type="checkbox" aria-label={label} checked={isOn} onChange={onChange} />
  );
  // What others have pushed off the list is not meant any more.
  const shown = (items ?? []).filter(({ id }) => selected.has(id));
  const chosen: Chosen<T> = { items: shown, count: total ?? shown.length, isAll: total !== null };
  return (
    <>
      {selected.size > 0 && (
        <section class="bulk" aria-label={`Selected ${noun}`}>
          <b>{chosen.count.toLocaleString("en")} selected</b>
          {loadAll && !isComplete && total === null && <SelectAll load={loadAll} onCount={setTotal} />}
          <span class="grow" />
          {bulk(chosen, clear)}
          <Button kind="small ghost" onClick={clear}>
            Select none
          </Button>
        </section>
      )}
      <Failure error={error} />
      <div class="panel">
        {items === undefined ? (
          error === null && <Loading rows={12} />
        ) : items.length === 0 ? (
          empty
        ) : (
          <table class="cards t-list">
            <thead>
              <tr>
                {canWrite && (
                  <th class="check">
                    {check("Select all that are shown", isAllShown, () =>
                      select(isAllShown ? [] : items.map(({ id }) => id)),
                    )}
                  </th>
                )}
                <Heads of={columns} />
              </tr>
            </thead>
            <VirtualRows
              items={items}
              rowHeight={49}
              phoneHeight={119}
              columns={columns.length + (canWrite ? 1 : 0)}
              onEnd={more}
              render={(item) => (
                <tr key={item.id} data-row class={selected.has(item.id) ? "selected" : ""}>
                  {canWrite && (
                    <td class="check">{check(`Select ${item.id}`, selected.has(item.id), () => toggle(item.id))}</td>
                  )}
                  <Cells item={item} />
                </tr>
              )}
            />
          </table>
        )}
      </div>
    </>
  );
}

export function Heads({ of }: { of: readonly Column[] }) {
  return (
    <>
      {of.map(([name, kind, title]) => (
        <th key={name} class={kind} title={title}>
          {kind === "acts" ? <span class="visually-hidden">{name}</span> : name}
        </th>
      ))}
    </>
  );
}

/** The button that selects what the server has, and says how much that is. */
function SelectAll({ load, onCount }: { load: Load; onCount: (count: number) => void }) {
  const [total, setTotal] = useState<ShownPage<unknown>["total"]>();
  useEffect(
    () =>
      void load({ limit: 1, include: ["total"] }).then(
        (page) => setTotal(page.total),
        () => {},
      ),
    [],
  );
  const { count = 0, isCapped = true } = total ?? {};
  const all = async () => (isCapped ? (await allOf((paging) => load({ ...paging, include: [] }))).length : count);
  return (
    <Button kind="small" onClick={async () => onCount(await all())}>
      Select all {count > 0 && `${count.toLocaleString("en")}${isCapped ? "+" : ""}`} that match
    </Button>
  );
}

/** The search of a list: what is typed becomes a word of the address bar. */
export function SearchBox({
  value = "",
  placeholder,
  label,
}: {
  value?: string | undefined;
  placeholder: string;
  label: string;
}) {
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (input.current !== null && document.activeElement !== input.current) input.current.value = value;
  }, [value]);
  return (
    <input
      ref={input}
      class="input filter"
      type="search"
      aria-label={label}
      placeholder={placeholder}
      defaultValue={value}
      aria-keyshortcuts="/"
      onInput={(event) => {
        const text = event.currentTarget.value;
        clearTimeout(timer.current);
        timer.current = setTimeout(() => setQuery({ search: text }), 200);
      }}
    />
  );
}

/** A choice of the toolbar that has one word of the address bar. @param of words by value, the default first */
export function QueryChoice({
  label,
  name,
  value,
  of,
}: {
  label: string;
  name: string;
  value: string | undefined;
  of: Readonly<Record<string, string>>;
}) {
  return (
    <label class="dim">
      {label}{" "}
      <select class="plain" value={value ?? ""} onChange={(event) => setQuery({ [name]: event.currentTarget.value })}>
        {options(of)}
      </select>
    </label>
  );
}

/** What a list is narrowed to besides, each of which a press takes away. */
export function Narrowed({ query }: { query: Readonly<Record<string, string>> }) {
  return (
    <div class="chips">
      {Object.entries({ taskId: "task", scheduleId: "schedule", label: "label" }).map(
        ([name, word]) =>
          query[name] && (
            <button key={name} type="button" class="chip on" onClick={() => setQuery({ [name]: null })}>
              {word} {query[name]} ×
            </button>
          ),
      )}
    </div>
  );
}
