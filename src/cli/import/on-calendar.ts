import { CronSyntaxError, CronTrigger } from "../../cron.ts";

/** Words for whole expressions, as in systemd.time(7). */
const WORDS: Readonly<Record<string, string>> = {
  minutely: "*-*-* *:*:00",
  hourly: "*-*-* *:00:00",
  daily: "*-*-* 00:00:00",
  weekly: "Mon *-*-* 00:00:00",
  monthly: "*-*-01 00:00:00",
  yearly: "*-01-01 00:00:00",
  annually: "*-01-01 00:00:00",
  quarterly: "*-01,04,07,10-01 00:00:00",
  semiannually: "*-01,07-01 00:00:00",
};

/**
 * A calendar expression of systemd as a trigger: `Mon..Fri *-*-* 09:00:00 Europe/Berlin`. A weekday and a date must
 * both match.
 * @throws {CronSyntaxError} for what does not map: parts of seconds, and days before the end with a repetition
 */
export function onCalendar(text: string, timeZone: string): CronTrigger {
  const trimmed = text.trim();
  const words = (WORDS[trimmed.toLowerCase()] ?? trimmed).split(/\s+/).filter((word) => word !== "");
  const last = words.at(-1) ?? "";
  const hasZone = /^(UTC|[A-Z][A-Za-z_]+(\/[A-Za-z0-9_+-]+)+)$/.test(last);
  const parts = hasZone ? words.slice(0, -1) : words;
  const weekday = /^[A-Za-z]/.test(parts[0] ?? "") ? parts[0] : undefined;
  const rest = weekday === undefined ? parts : parts.slice(1);
  const time = rest.find((part) => part.includes(":"));
  const date = rest.find((part) => !part.includes(":"));
  if (parts.length === 0 || rest.length > 2 || (rest.length === 2 && (time === undefined || date === undefined))) {
    throw notMapped(text, "is no calendar expression");
  }
  const fields = { ...dateFields(date ?? "*-*-*", weekday, text), ...timeFields(time ?? "00:00:00", text) };
  return new CronTrigger(fields, { timeZone: hasZone ? last : timeZone });
}

function dateFields(date: string, weekday: string | undefined, text: string): Record<string, string> {
  const [head = "", fromEnd] = date.split("~");
  const numbers = head.split("-");
  // `*-02~03` has a year and a month before the sign.
  const count = fromEnd === undefined ? 3 : 2;
  if (numbers.length > count || numbers.length < count - 1) throw notMapped(text, "has a date that does not map");
  const padded = numbers.length === count ? numbers : ["*", ...numbers];
  const [year = "*", month = "*", day = "*"] = padded;
  const days = weekday === undefined ? "*" : weekdaysOf(weekday, text);
  const common = { year: listOf(year, text), month: listOf(month, text) };
  if (fromEnd === undefined) return { ...common, day: listOf(day, text), dayOfWeek: days };
  // `Mon *-05~07/1`: the Monday within the last seven days, which is the last one.
  if (/^0?7\/1$/.test(fromEnd) && /^[a-z]{3}$/.test(days)) return { ...common, day: "*", dayOfWeek: `${days}L` };
  const offset = Number(fromEnd) - 1;
  if (!/^\d+$/.test(fromEnd) || offset < 0)
    throw notMapped(text, `has days before the end (~${fromEnd}) that do not map`);
  return { ...common, day: offset === 0 ? "L" : `L-${offset}`, dayOfWeek: days };
}

function timeFields(time: string, text: string): Record<string, string> {
  const [hour = "", minute = "", second = "00", ...more] = time.split(":");
  if (more.length > 0) throw notMapped(text, "has a time that does not map");
  return { hour: listOf(hour, text), minute: listOf(minute, text), second: listOf(second.replace(/\.0+$/, ""), text) };
}

/** `1..5`, `8/2`, `0,30` as a field of a crontab has it. */
function listOf(field: string, text: string): string {
  if (field.includes(".") && !/^[\d,./*]+$/.test(field))
    throw notMapped(text, `has ${JSON.stringify(field)}, which does not map`);
  const items = field.split(",").map((item) => item.replace("..", "-"));
  if (items.some((item) => item.includes("."))) throw notMapped(text, "has parts of a second, which do not map");
  return items.map((item) => item.replace(/\d+/g, (digits) => String(Number(digits)))).join(",");
}

function weekdaysOf(words: string, text: string): string {
  return words
    .split(",")
    .map((word) => {
      const names = word.split(/\.\.|-/).map((name) => name.slice(0, 3).toLowerCase());
      if (names.some((name) => !/^(mon|tue|wed|thu|fri|sat|sun)$/.test(name)))
        throw notMapped(text, `has no weekday ${JSON.stringify(word)}`);
      return names.join("-");
    })
    .join(",");
}

function notMapped(text: string, problem: string): CronSyntaxError {
  return new CronSyntaxError(`${JSON.stringify(text)} ${problem}`, { field: null, element: text, position: 0 });
}
