// The text format of Prometheus, version 0.0.4: https://prometheus.io/docs/instrumenting/exposition_formats/

/** The labels of a series as the format writes them, without the braces: `task="mail",outcome="success"`. */
export type LabelText = string;

/** One label of a series. Backslashes, quotes and line breaks of its value are escaped. */
export function label(name: string, value: string): LabelText {
  const escaped = value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
  return `${name}="${escaped}"`;
}

/** A name with all of its series. */
export interface Family {
  /** Its lines, each with its line break. */
  text(): string;
}

/** Numbers that only grow while the process lives. */
export class Counter implements Family {
  readonly #name: string;
  readonly #help: string;
  readonly #values = new Map<LabelText, number>();

  constructor(name: string, help: string) {
    this.#name = name;
    this.#help = help;
  }

  add(labels: LabelText, amount = 1): void {
    this.#values.set(labels, (this.#values.get(labels) ?? 0) + amount);
  }

  text(): string {
    return familyText(this.#name, "counter", this.#help, this.#values);
  }
}

interface Observations {
  /** How many values are in each bucket alone; the last is that of the values above every bound. */
  readonly counts: number[];
  sumMs: number;
}

/** How durations are spread. */
export class Histogram implements Family {
  readonly #name: string;
  readonly #help: string;
  readonly #boundsMs: readonly number[];
  readonly #series = new Map<LabelText, Observations>();

  /** @param boundsMs the upper bounds of the buckets, in milliseconds, the smallest first */
  constructor(name: string, help: string, boundsMs: readonly number[]) {
    this.#name = name;
    this.#help = help;
    this.#boundsMs = boundsMs;
  }

  /** @param durationMs in milliseconds. Below zero, which a clock that was set back makes, it counts as zero */
  observe(labels: LabelText, durationMs: number): void {
    const ms = Math.max(0, durationMs);
    const known = this.#series.get(labels);
    const series = known ?? { counts: new Array<number>(this.#boundsMs.length + 1).fill(0), sumMs: 0 };
    if (known === undefined) this.#series.set(labels, series);
    const above = this.#boundsMs.findIndex((bound) => ms <= bound);
    const bucket = above === -1 ? this.#boundsMs.length : above;
    series.counts[bucket] = (series.counts[bucket] ?? 0) + 1;
    series.sumMs += ms;
  }

  text(): string {
    const name = this.#name;
    const lines = [...this.#series].map(([labels, { counts, sumMs }]) => {
      let total = 0;
      const buckets = counts.map((count, index) => {
        total += count;
        const bound = this.#boundsMs[index];
        return `${name}_bucket{${labels},le="${bound === undefined ? "+Inf" : bound / 1000}"} ${total}\n`;
      });
      return `${buckets.join("")}${name}_sum{${labels}} ${sumMs / 1000}\n${name}_count{${labels}} ${total}\n`;
    });
    return headOf(name, "histogram", this.#help) + lines.join("");
  }
}

/** A family of numbers of one moment. Empty labels make a series without any. */
export function gaugeText(name: string, help: string, values: ReadonlyMap<LabelText, number>): string {
  return familyText(name, "gauge", help, values);
}

function familyText(name: string, type: string, help: string, values: ReadonlyMap<LabelText, number>): string {
  const lines = [...values].map(([labels, value]) => `${name}${labels === "" ? "" : `{${labels}}`} ${value}\n`);
  return headOf(name, type, help) + lines.join("");
}

function headOf(name: string, type: string, help: string): string {
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`;
}
