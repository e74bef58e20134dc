// What a calendar program finds in a calendar. ical.js is the parser of Thunderbird.
import ICAL from "ical.js";

/** @param {string} text */
export function eventsOf(text) {
  return new ICAL.Component(ICAL.parse(text)).getAllSubcomponents("vevent").map((one) => {
    const { uid, startDate, summary, description } = new ICAL.Event(one);
    return { uid, at: startDate.toJSDate().toISOString(), summary, description };
  });
}

/** The dates of the first event, at most 1,000. @param {string} text */
export function datesOf(text) {
  const [component] = new ICAL.Component(ICAL.parse(text)).getAllSubcomponents("vevent");
  const iterator = new ICAL.Event(component).iterator();
  const dates = [];
  for (let next = iterator.next(); next && dates.length < 1000; next = iterator.next()) {
    dates.push(next.toString().slice(0, 10));
  }
  return dates;
}
