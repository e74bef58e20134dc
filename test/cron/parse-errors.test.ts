import { describe, expect, test } from "vitest";
import { CronSyntaxError } from "../../src/core/errors.ts";
import { CronTrigger } from "../../src/triggers/cron.ts";

type Row = [
  text: string,
  field: string | null,
  element: string,
  position: number,
  suggestion: string | null,
  message: string,
];

// Text, then the facts of the error, then its message: what, where, what to do.
const ROWS: Row[] = [
  ["60 * * * *", "minute", "60", 0, "0", 'minute "60" is outside 0-59 (position 0 in "60 * * * *"); did you mean "0"?'],
  [
    "-1 * * * *",
    "minute",
    "-1",
    0,
    null,
    'minute "-1" has an unexpected "-" (position 0 in "-1 * * * *"); minute takes 0-59, and ranges, steps and ' +
      "lists of them",
  ],
  [
    "1-60 * * * *",
    "minute",
    "1-60",
    0,
    null,
    'minute "1-60" is outside 0-59 (position 0 in "1-60 * * * *"); minute takes 0-59, and ranges, steps and ' +
      "lists of them",
  ],
  [
    "*/60 * * * *",
    "minute",
    "*/60",
    0,
    "0",
    'minute "*/60" has a step larger than its range of 59 (position 0 in "*/60 * * * *"); write "0" for that ' +
      "value alone",
  ],
  [
    "*/0 * * * *",
    "minute",
    "*/0",
    0,
    null,
    'minute "*/0" has a step of 0 (position 0 in "*/0 * * * *"); a step is 1 or more',
  ],
  [
    "0-10/20 * * * *",
    "minute",
    "0-10/20",
    0,
    "0",
    'minute "0-10/20" has a step larger than its range of 10 (position 0 in "0-10/20 * * * *"); write "0" for ' +
      "that value alone",
  ],
  [
    "59/5 * * * *",
    "minute",
    "59/5",
    0,
    "59",
    'minute "59/5" has a step larger than its range of 0 (position 0 in "59/5 * * * *"); write "59" for that ' +
      "value alone",
  ],
  [
    "1.5 * * * *",
    "minute",
    "1.5",
    0,
    null,
    'minute "1.5" has an unexpected "." (position 0 in "1.5 * * * *"); minute takes 0-59, and ranges, steps ' +
      "and lists of them",
  ],
  [
    "1e5 * * * *",
    "minute",
    "1e5",
    0,
    null,
    'minute "1e5" has an unexpected "e" (position 0 in "1e5 * * * *"); minute takes 0-59, and ranges, steps ' +
      "and lists of them",
  ],
  [
    "0x10 * * * *",
    "minute",
    "0x10",
    0,
    null,
    'minute "0x10" has an unexpected "x" (position 0 in "0x10 * * * *"); minute takes 0-59, and ranges, steps ' +
      "and lists of them",
  ],
  [
    "99999999999999999999 * * * *",
    "minute",
    "99999999999999999999",
    0,
    null,
    'minute "99999999999999999999" is outside 0-59 (position 0 in "99999999999999999999 * * * *"); minute ' +
      "takes 0-59, and ranges, steps and lists of them",
  ],
  [
    "x * * * *",
    "minute",
    "x",
    0,
    null,
    'minute "x" has an unexpected "x" (position 0 in "x * * * *"); minute takes 0-59, and ranges, steps and ' +
      "lists of them",
  ],
  [
    "5- * * * *",
    "minute",
    "5-",
    0,
    null,
    'minute "5-" ends too early (position 0 in "5- * * * *"); minute takes 0-59, and ranges, steps and lists of them',
  ],
  [
    "-5 * * * *",
    "minute",
    "-5",
    0,
    null,
    'minute "-5" has an unexpected "-" (position 0 in "-5 * * * *"); minute takes 0-59, and ranges, steps and ' +
      "lists of them",
  ],
  [
    "5/ * * * *",
    "minute",
    "5/",
    0,
    null,
    'minute "5/" needs a number after the / (position 0 in "5/ * * * *"); minute takes 0-59, and ranges, steps ' +
      "and lists of them",
  ],
  [
    "*/x * * * *",
    "minute",
    "*/x",
    0,
    null,
    'minute "*/x" needs a number after the / (position 0 in "*/x * * * *"); minute takes 0-59, and ranges, ' +
      "steps and lists of them",
  ],
  [
    "5//2 * * * *",
    "minute",
    "5//2",
    0,
    null,
    'minute "5//2" needs a number after the / (position 0 in "5//2 * * * *"); minute takes 0-59, and ranges, ' +
      "steps and lists of them",
  ],
  [
    "5-10-15 * * * *",
    "minute",
    "5-10-15",
    0,
    null,
    'minute "5-10-15" has an unexpected "-" (position 0 in "5-10-15 * * * *"); minute takes 0-59, and ranges, ' +
      "steps and lists of them",
  ],
  [
    ",5 * * * *",
    "minute",
    "",
    0,
    null,
    'minute "" is empty (position 0 in ",5 * * * *"); write a value, or remove the comma',
  ],
  [
    "5, * * * *",
    "minute",
    "",
    2,
    null,
    'minute "" is empty (position 2 in "5, * * * *"); write a value, or remove the comma',
  ],
  [
    "5,,6 * * * *",
    "minute",
    "",
    2,
    null,
    'minute "" is empty (position 2 in "5,,6 * * * *"); write a value, or remove the comma',
  ],
  [
    "?/2 * * * *",
    "minute",
    "?/2",
    0,
    null,
    'minute "?/2" has an unexpected "/" (position 0 in "?/2 * * * *"); minute takes 0-59, and ranges, steps ' +
      "and lists of them",
  ],
  [
    "* * +1 * *",
    "day",
    "+1",
    4,
    null,
    'day "+1" has an unexpected "+" (position 4 in "* * +1 * *"); a + begins dayOfWeek, and nothing else',
  ],
  [
    "0 12 1 * mon,+fri",
    "dayOfWeek",
    "+fri",
    13,
    null,
    'dayOfWeek "+fri" has an unexpected "+" (position 13 in "0 12 1 * mon,+fri"); a + begins dayOfWeek, ' +
      "and nothing else",
  ],
  [
    "0 12 1 * +",
    "dayOfWeek",
    "",
    10,
    null,
    'dayOfWeek "" is empty (position 10 in "0 12 1 * +"); write a value, or remove the comma',
  ],
  [
    "0 12 * * mon-fri#LL",
    "dayOfWeek",
    "mon-fri#LL",
    9,
    "mon#1",
    'dayOfWeek "mon-fri#LL" must have a number from 1 to 5, or L, after the # (position 9 in "0 12 * * ' +
      'mon-fri#LL"); did you mean "mon#1"?',
  ],
  [
    "** * * * *",
    "minute",
    "**",
    0,
    null,
    'minute "**" has an unexpected "*" (position 0 in "** * * * *"); minute takes 0-59, and ranges, steps and ' +
      "lists of them",
  ],
  [
    "*5 * * * *",
    "minute",
    "*5",
    0,
    null,
    'minute "*5" has an unexpected "5" (position 0 in "*5 * * * *"); minute takes 0-59, and ranges, steps and ' +
      "lists of them",
  ],
  [
    "1\u0661 * * * *",
    "minute",
    "1\u0661",
    0,
    null,
    'minute "1\u0661" has an unexpected "\u0661" (position 0 in "1\u0661 * * * *"); minute takes 0-59, and ' +
      "ranges, steps and lists of them",
  ],
  [
    "\uff15 * * * *",
    "minute",
    "\uff15",
    0,
    null,
    'minute "\uff15" has an unexpected "\uff15" (position 0 in "\uff15 * * * *"); minute takes 0-59, and ' +
      "ranges, steps and lists of them",
  ],
  [
    "\ud83d\ude00 * * * *",
    "minute",
    "\ud83d\ude00",
    0,
    null,
    'minute "\ud83d\ude00" has an unexpected "\ud83d\ude00" (position 0 in "\ud83d\ude00 * * * *"); minute ' +
      "takes 0-59, and ranges, steps and lists of them",
  ],
  [
    "mon * * * *",
    "minute",
    "mon",
    0,
    null,
    'minute "mon" has an unexpected "m" (position 0 in "mon * * * *"); minute takes 0-59, and ranges, steps ' +
      "and lists of them",
  ],
  ["* 24 * * *", "hour", "24", 2, "0", 'hour "24" is outside 0-23 (position 2 in "* 24 * * *"); did you mean "0"?'],
  [
    "* 9-25 * * *",
    "hour",
    "9-25",
    2,
    null,
    'hour "9-25" is outside 0-23 (position 2 in "* 9-25 * * *"); hour takes 0-23, and ranges, steps and lists of them',
  ],
  [
    "* 9am * * *",
    "hour",
    "9am",
    2,
    null,
    'hour "9am" has an unexpected "a" (position 2 in "* 9am * * *"); hour takes 0-23, and ranges, steps and ' +
      "lists of them",
  ],
  [
    "* */24 * * *",
    "hour",
    "*/24",
    2,
    "0",
    'hour "*/24" has a step larger than its range of 23 (position 2 in "* */24 * * *"); write "0" for that value alone',
  ],
  ["* * 0 * *", "day", "0", 4, "1", 'day "0" is outside 1-31 (position 4 in "* * 0 * *"); did you mean "1"?'],
  ["* * 32 * *", "day", "32", 4, "31", 'day "32" is outside 1-31 (position 4 in "* * 32 * *"); did you mean "31"?'],
  [
    "* * 20-10 * *",
    "day",
    "20-10",
    4,
    "10-20",
    'day "20-10" runs backwards (position 4 in "* * 20-10 * *"); did you mean "10-20"?',
  ],
  [
    "* * */31 * *",
    "day",
    "*/31",
    4,
    "1",
    'day "*/31" has a step larger than its range of 30 (position 4 in "* * */31 * *"); write "1" for that value alone',
  ],
  [
    "* * fri * *",
    "day",
    "fri",
    4,
    "fri#1",
    'day "fri" is a weekday (position 4 in "* * fri * *"); put it in dayOfWeek, or write "fri#1" for the first ' +
      "of the month",
  ],
  [
    "* * L-31 * *",
    "day",
    "L-31",
    4,
    "L-30",
    'day "L-31" is outside L-0 to L-30 (position 4 in "* * L-31 * *"); did you mean "L-30"?',
  ],
  [
    "* * L-x * *",
    "day",
    "L-x",
    4,
    null,
    'day "L-x" needs a number after L- (position 4 in "* * L-x * *"); day takes 1-31, L, L-3, LW, 15W, fri#2, ' +
      "friL, and ranges, steps and lists of numbers",
  ],
  [
    "* * L-3W * *",
    "day",
    "L-3W",
    4,
    "LW",
    'day "L-3W" combines L-n and W, which is not supported (position 4 in "* * L-3W * *"); did you mean "LW"?',
  ],
  [
    "* * 32W * *",
    "day",
    "32W",
    4,
    null,
    'day "32W" is outside 1-31 (position 4 in "* * 32W * *"); day takes 1-31, L, L-3, LW, 15W, fri#2, friL, ' +
      "and ranges, steps and lists of numbers",
  ],
  [
    "* * W * *",
    "day",
    "W",
    4,
    null,
    'day "W" has an unknown name "W" (position 4 in "* * W * *"); day takes 1-31, L, L-3, LW, 15W, fri#2, ' +
      "friL, and ranges, steps and lists of numbers",
  ],
  [
    "* * 2th * *",
    "day",
    "2th",
    4,
    "fri#2",
    'day "2th" is not a day (position 4 in "* * 2th * *"); did you mean "fri#2"?',
  ],
  [
    "* * 2nd * *",
    "day",
    "2nd",
    4,
    "fri#2",
    'day "2nd" needs a weekday (position 4 in "* * 2nd * *"); did you mean "fri#2"?',
  ],
  [
    "* * LX * *",
    "day",
    "LX",
    4,
    null,
    'day "LX" has an unknown name "LX" (position 4 in "* * LX * *"); day takes 1-31, L, L-3, LW, 15W, fri#2, ' +
      "friL, and ranges, steps and lists of numbers",
  ],
  [
    "* * lastfri * *",
    "day",
    "lastfri",
    4,
    null,
    'day "lastfri" has an unknown name "lastfri" (position 4 in "* * lastfri * *"); day takes 1-31, L, L-3, ' +
      "LW, 15W, fri#2, friL, and ranges, steps and lists of numbers",
  ],
  [
    "* * fri#6 * *",
    "day",
    "fri#6",
    4,
    "friL",
    'day "fri#6" must have a number from 1 to 5, or L, after the # (position 4 in "* * fri#6 * *"); did you ' +
      'mean "friL"?',
  ],
  [
    "* * 5#2 * *",
    "day",
    "5#2",
    4,
    null,
    'day "5#2" has an unexpected "#" (position 4 in "* * 5#2 * *"); day takes 1-31, L, L-3, LW, 15W, fri#2, ' +
      "friL, and ranges, steps and lists of numbers",
  ],
  ["* * * 0 *", "month", "0", 6, "1", 'month "0" is outside 1-12 (position 6 in "* * * 0 *"); did you mean "1"?'],
  ["* * * 13 *", "month", "13", 6, "1", 'month "13" is outside 1-12 (position 6 in "* * * 13 *"); did you mean "1"?'],
  [
    "* * * January *",
    "month",
    "January",
    6,
    "jan",
    'month "January" has an unknown name "January" (position 6 in "* * * January *"); did you mean "jan"?',
  ],
  [
    "* * * sept *",
    "month",
    "sept",
    6,
    "sep",
    'month "sept" has an unknown name "sept" (position 6 in "* * * sept *"); did you mean "sep"?',
  ],
  [
    "* * * jann *",
    "month",
    "jann",
    6,
    "jan",
    'month "jann" has an unknown name "jann" (position 6 in "* * * jann *"); did you mean "jan"?',
  ],
  [
    "* * * foo *",
    "month",
    "foo",
    6,
    null,
    'month "foo" has an unknown name "foo" (position 6 in "* * * foo *"); month takes 1-12 or jan-dec, and ' +
      "ranges, steps and lists of them",
  ],
  [
    "* * * feb-foo *",
    "month",
    "feb-foo",
    6,
    null,
    'month "feb-foo" has an unknown name "foo" (position 6 in "* * * feb-foo *"); month takes 1-12 or jan-dec, ' +
      "and ranges, steps and lists of them",
  ],
  [
    "* * * 1-12/12 *",
    "month",
    "1-12/12",
    6,
    "1",
    'month "1-12/12" has a step larger than its range of 11 (position 6 in "* * * 1-12/12 *"); write "1" for ' +
      "that value alone",
  ],
  [
    "* * * * 8",
    "dayOfWeek",
    "8",
    8,
    null,
    'dayOfWeek "8" is outside 0-7 (position 8 in "* * * * 8"); dayOfWeek takes 0-7 or sun-sat, and ranges, ' +
      "steps and lists of them",
  ],
  [
    "* * * * wde",
    "dayOfWeek",
    "wde",
    8,
    "wed",
    'dayOfWeek "wde" has an unknown name "wde" (position 8 in "* * * * wde"); did you mean "wed"?',
  ],
  [
    "* * * * Monday",
    "dayOfWeek",
    "Monday",
    8,
    "mon",
    'dayOfWeek "Monday" has an unknown name "Monday" (position 8 in "* * * * Monday"); did you mean "mon"?',
  ],
  [
    "* * * * thurs",
    "dayOfWeek",
    "thurs",
    8,
    "thu",
    'dayOfWeek "thurs" has an unknown name "thurs" (position 8 in "* * * * thurs"); did you mean "thu"?',
  ],
  [
    "* * * * xyz",
    "dayOfWeek",
    "xyz",
    8,
    null,
    'dayOfWeek "xyz" has an unknown name "xyz" (position 8 in "* * * * xyz"); dayOfWeek takes 0-7 or sun-sat, ' +
      "and ranges, steps and lists of them",
  ],
  [
    "* * * * mon-",
    "dayOfWeek",
    "mon-",
    8,
    null,
    'dayOfWeek "mon-" ends too early (position 8 in "* * * * mon-"); dayOfWeek takes 0-7 or sun-sat, and ' +
      "ranges, steps and lists of them",
  ],
  [
    "* * * * fri#0",
    "dayOfWeek",
    "fri#0",
    8,
    "fri#1",
    'dayOfWeek "fri#0" must have a number from 1 to 5, or L, after the # (position 8 in "* * * * fri#0"); did you ' +
      'mean "fri#1"?',
  ],
  [
    "* * * * fri#6",
    "dayOfWeek",
    "fri#6",
    8,
    "friL",
    'dayOfWeek "fri#6" must have a number from 1 to 5, or L, after the # (position 8 in "* * * * fri#6"); did you ' +
      'mean "friL"?',
  ],
  [
    "* * * * fri#",
    "dayOfWeek",
    "fri#",
    8,
    "fri#1",
    'dayOfWeek "fri#" must have a number from 1 to 5, or L, after the # (position 8 in "* * * * fri#"); did ' +
      'you mean "fri#1"?',
  ],
  [
    "* * * * L",
    "dayOfWeek",
    "L",
    8,
    "satL",
    'dayOfWeek "L" has L alone, which means no certain weekday (position 8 in "* * * * L"); did you mean "satL"?',
  ],
  [
    "* * * * 5L2",
    "dayOfWeek",
    "5L2",
    8,
    null,
    'dayOfWeek "5L2" has an unexpected "2" (position 8 in "* * * * 5L2"); dayOfWeek takes 0-7 or sun-sat, and ' +
      "ranges, steps and lists of them",
  ],
  [
    "* * * * 15W",
    "dayOfWeek",
    "15W",
    8,
    null,
    'dayOfWeek "15W" is outside 0-7 (position 8 in "* * * * 15W"); dayOfWeek takes 0-7 or sun-sat, and ranges, ' +
      "steps and lists of them",
  ],
  [
    "* * * * */7",
    "dayOfWeek",
    "*/7",
    8,
    "sun",
    'dayOfWeek "*/7" has a step larger than its range of 6 (position 8 in "* * * * */7"); write "sun" for that ' +
      "value alone",
  ],
  [
    "* * * * mon-tue/2",
    "dayOfWeek",
    "mon-tue/2",
    8,
    "mon",
    'dayOfWeek "mon-tue/2" has a step larger than its range of 1 (position 8 in "* * * * mon-tue/2"); write ' +
      '"mon" for that value alone',
  ],
  [
    "* * * * mon wed",
    "month",
    "mon",
    8,
    "* * * * mon",
    'month "mon" has an unknown name "mon" (position 8 in "* * * * mon wed"); 6 fields start with the second: ' +
      'did you mean "* * * * mon"?',
  ],
  [
    "0 9 * * mon-fri 2030",
    "month",
    "mon-fri",
    8,
    "0 0 9 * * mon-fri 2030",
    'month "mon-fri" has an unknown name "mon" (position 8 in "0 9 * * mon-fri 2030"); 6 fields start with the ' +
      'second: did you mean "0 0 9 * * mon-fri 2030"?',
  ],
  [
    "0 9 * * 1 root",
    "dayOfWeek",
    "root",
    10,
    "0 9 * * 1",
    'dayOfWeek "root" has an unknown name "root" (position 10 in "0 9 * * 1 root"); 6 fields start with the ' +
      'second: did you mean "0 9 * * 1"?',
  ],
  [
    "0 0 9 * * wde",
    "dayOfWeek",
    "wde",
    10,
    "wed",
    'dayOfWeek "wde" has an unknown name "wde" (position 10 in "0 0 9 * * wde"); did you mean "wed"?',
  ],
  [
    "0 0 0 1 1 * 1969",
    "year",
    "1969",
    12,
    "1970",
    'year "1969" is outside 1970-9999 (position 12 in "0 0 0 1 1 * 1969"); did you mean "1970"?',
  ],
  [
    "0 0 0 1 1 * 10000",
    "year",
    "10000",
    12,
    "9999",
    'year "10000" is outside 1970-9999 (position 12 in "0 0 0 1 1 * 10000"); did you mean "9999"?',
  ],
  [
    "0 0 0 1 1 * 30",
    "year",
    "30",
    12,
    "2030",
    'year "30" is outside 1970-9999 (position 12 in "0 0 0 1 1 * 30"); did you mean "2030"?',
  ],
  [
    "0 0 0 1 1 * 2031-2030",
    "year",
    "2031-2030",
    12,
    "2030-2031",
    'year "2031-2030" runs backwards (position 12 in "0 0 0 1 1 * 2031-2030"); did you mean "2030-2031"?',
  ],
  [
    "0 0 0 1 1 * 2030/8000",
    "year",
    "2030/8000",
    12,
    "2030",
    'year "2030/8000" has a step larger than its range of 7969 (position 12 in "0 0 0 1 1 * 2030/8000"); write ' +
      '"2030" for that value alone',
  ],
  [
    "0 9 * * mon week=0",
    "week",
    "0",
    17,
    "1",
    'week "0" is outside 1-53 (position 17 in "0 9 * * mon week=0"); did you mean "1"?',
  ],
  [
    "0 9 * * mon week=54",
    "week",
    "54",
    17,
    "53",
    'week "54" is outside 1-53 (position 17 in "0 9 * * mon week=54"); did you mean "53"?',
  ],
  [
    "0 9 * * mon week=20-10",
    "week",
    "20-10",
    17,
    "10-20",
    'week "20-10" runs backwards (position 17 in "0 9 * * mon week=20-10"); did you mean "10-20"?',
  ],
  [
    "0 9 * * mon week=",
    "week",
    "",
    17,
    null,
    'week "" is empty (position 17 in "0 9 * * mon week="); write a value, or remove the comma',
  ],
  ["* * * *", null, "* * * *", 0, "* * * * *", '"* * * *" has 4 fields, not 5, 6 or 7; did you mean "* * * * *"?'],
  [
    "* * *",
    null,
    "* * *",
    0,
    null,
    '"* * *" has 3 fields, not 5, 6 or 7; 5 are minute hour day month weekday; 6 have seconds first; 7 have ' +
      "the year last besides",
  ],
  [
    "*",
    null,
    "*",
    0,
    null,
    '"*" has 1 field, not 5, 6 or 7; 5 are minute hour day month weekday; 6 have seconds first; 7 have the ' +
      "year last besides",
  ],
  [
    "* * * * * * * *",
    null,
    "* * * * * * * *",
    0,
    null,
    '"* * * * * * * *" has 8 fields, not 5, 6 or 7; 5 are minute hour day month weekday; 6 have seconds first; ' +
      "7 have the year last besides",
  ],
  [
    "0 9 2nd fri * * * *",
    null,
    "0 9 2nd fri * * * *",
    0,
    null,
    '"0 9 2nd fri * * * *" has 8 fields, not 5, 6 or 7; 5 are minute hour day month weekday; 6 have seconds ' +
      "first; 7 have the year last besides",
  ],
  [
    "0 9 * * mon, wed, fri, sat",
    null,
    "0 9 * * mon, wed, fri, sat",
    0,
    null,
    '"0 9 * * mon, wed, fri, sat" has 8 fields, not 5, 6 or 7; a field has no spaces in it',
  ],
  ["", null, "", 0, null, 'crontab text is empty; write five fields, such as "0 9 * * mon-fri"'],
  ["   ", null, "", 0, null, 'crontab text is empty; write five fields, such as "0 9 * * mon-fri"'],
  [
    "@reboot",
    null,
    "@reboot",
    0,
    null,
    '"@reboot" names no time; call the task when your program starts, or add a job',
  ],
  ["@every 5m", null, "@every 5m", 0, null, '"@every 5m" is not a nickname; use an IntervalTrigger'],
  ["@dialy", null, "@dialy", 0, "@daily", '"@dialy" is not a nickname; did you mean "@daily"?'],
  [
    "@fortnightly",
    null,
    "@fortnightly",
    0,
    null,
    '"@fortnightly" is not a nickname; known are @yearly @annually @monthly @weekly @daily @midnight @hourly',
  ],
  [
    "@",
    null,
    "@",
    0,
    null,
    '"@" is not a nickname; known are @yearly @annually @monthly @weekly @daily @midnight @hourly',
  ],
  [
    "0 0 30 2 *",
    "day",
    "30",
    4,
    "L",
    'day "30" never comes (position 4 in "0 0 30 2 *"); write "L" for the last day of the month, because no date ' +
      "matches it and the months, weeks, weekdays and years",
  ],
  [
    "0 0 31 4,6,9,11 *",
    "day",
    "31",
    4,
    "L",
    'day "31" never comes (position 4 in "0 0 31 4,6,9,11 *"); write "L" for the last day of the month, because ' +
      "no date matches it and the months, weeks, weekdays and years",
  ],
  [
    "0 0 31W 2 *",
    "day",
    "31W",
    4,
    null,
    'day "31W" never comes (position 4 in "0 0 31W 2 *"); no date matches it and the months, weeks, weekdays and years',
  ],
  [
    "0 0 0 29 2 * 2027",
    "day",
    "29",
    6,
    "L",
    'day "29" never comes (position 6 in "0 0 0 29 2 * 2027"); write "L" for the last day of the month, because ' +
      "no date matches it and the months, weeks, weekdays and years",
  ],
  [
    "0 0 1 1 * week=30",
    "day",
    "1",
    6,
    null,
    'day "1" never comes (position 6 in "0 0 1 1 * week=30"); no date matches it and the months, weeks, ' +
      "weekdays and years",
  ],
  [
    "0 0 L-30 2 *",
    "day",
    "L-30",
    4,
    null,
    'day "L-30" never comes (position 4 in "0 0 L-30 2 *"); no date matches it and the months, weeks, weekdays ' +
      "and years",
  ],
  [
    "H * * * *",
    "minute",
    "H",
    0,
    null,
    'minute "H" has a "H", whose value follows from a seed (position 0 in "H * * * *"); ' +
      "give the schedule an id, or write CronTrigger.fromCrontab(text, { seed })",
  ],
  [
    "H/15 * * * *",
    "minute",
    "H/15",
    0,
    null,
    'minute "H/15" has a "H", whose value follows from a seed (position 0 in "H/15 * * * *"); ' +
      "give the schedule an id, or write CronTrigger.fromCrontab(text, { seed })",
  ],
  [
    "0 H(0-7) * * *",
    "hour",
    "H(0-7)",
    2,
    null,
    'hour "H(0-7)" has a "H", whose value follows from a seed (position 2 in "0 H(0-7) * * *"); ' +
      "give the schedule an id, or write CronTrigger.fromCrontab(text, { seed })",
  ],
  [
    "0 9 * * h",
    "dayOfWeek",
    "h",
    8,
    null,
    'dayOfWeek "h" has a "h", whose value follows from a seed (position 8 in "0 9 * * h"); ' +
      "give the schedule an id, or write CronTrigger.fromCrontab(text, { seed })",
  ],
  [
    "0~30 9 * * *",
    "minute",
    "0~30",
    0,
    null,
    'minute "0~30" has a "~", which would pick a value at random (position 0 in "0~30 9 * * *"); ' +
      "write H, which a seed picks, or a value; to spread schedules over time, give them a maxJitter",
  ],
  [
    "~ 9 * * *",
    "minute",
    "~",
    0,
    null,
    'minute "~" has a "~", which would pick a value at random (position 0 in "~ 9 * * *"); write ' +
      "H, which a seed picks, or a value; to spread schedules over time, give them a maxJitter",
  ],
  [
    "CRON_TZ=Asia/Tokyo 0 9 * * *",
    null,
    "CRON_TZ=Asia/Tokyo",
    0,
    null,
    '"CRON_TZ=Asia/Tokyo" is no field (position 0 in "CRON_TZ=Asia/Tokyo 0 9 * * *"); ' +
      'leave it out, and give the time zone as an option: { timeZone: "Asia/Tokyo" }',
  ],
  [
    "TZ=UTC 0 0 9 * * * 2030",
    null,
    "TZ=UTC",
    0,
    null,
    '"TZ=UTC" is no field (position 0 in "TZ=UTC 0 0 9 * * * 2030"); ' +
      'leave it out, and give the time zone as an option: { timeZone: "UTC" }',
  ],
  [
    "TZ= 0 9 * * *",
    null,
    "TZ=",
    0,
    null,
    '"TZ=" is no field (position 0 in "TZ= 0 9 * * *"); ' +
      'leave it out, and give the time zone as an option: { timeZone: "Europe/Berlin" }',
  ],
  [
    "0 9 2nd fri * *",
    "hour",
    "2nd",
    4,
    "0 9 fri#2 * *",
    'hour "2nd" has an unexpected "n" (position 4 in "0 9 2nd fri * *"); a space ends a field: did you mean "0 ' +
      '9 fri#2 * *"?',
  ],
  [
    "0 9 last sun * * *",
    "hour",
    "last",
    4,
    null,
    'hour "last" has an unexpected "l" (position 4 in "0 9 last sun * * *"); hour takes 0-23, and ranges, ' +
      "steps and lists of them",
  ],
];

describe("crontab text that is refused", () => {
  test.each(ROWS)("%j is explained", (text, field, element, position, suggestion, message) => {
    const error = errorOf(() => CronTrigger.fromCrontab(text));
    expect({ ...facts(error), message: error.message }).toEqual({ field, element, position, suggestion, message });
  });

  test("the element stands at its position in the text", () => {
    for (const [text, , element, position] of ROWS) {
      expect([text, text.trim().slice(position, position + element.length)]).toEqual([text, element]);
    }
  });

  test("a suggestion that replaces the element makes text that is understood", () => {
    for (const [text, field, element, position, suggestion] of ROWS) {
      if (suggestion === null) continue;
      const isWhole = suggestion.includes(" ") || suggestion.startsWith("@") || element === text;
      const mended = isWhole
        ? suggestion
        : text.slice(0, position) + suggestion + text.slice(position + element.length);
      expect([field, CronTrigger.fromCrontab(mended).toString()]).not.toContain("");
    }
  });
});

describe("fields that are refused", () => {
  test.each<[fields: object, field: string | null, element: string, suggestion: string | null, message: string]>([
    [{}, null, "", null, "no field is set; give at least one, such as { hour: 9 }"],
    [{ hour: undefined }, null, "", null, "no field is set; give at least one, such as { hour: 9 }"],
    [{ weekday: "fri" }, null, "weekday", "dayOfWeek", '"weekday" is not a cron field; did you mean "dayOfWeek"?'],
    [{ minutes: 5 }, null, "minutes", "minute", '"minutes" is not a cron field; did you mean "minute"?'],
    [
      { day_of_week: 1 },
      null,
      "day_of_week",
      "dayOfWeek",
      '"day_of_week" is not a cron field; did you mean "dayOfWeek"?',
    ],
    [
      { quarter: 1 },
      null,
      "quarter",
      null,
      '"quarter" is not a cron field; the fields are year, month, day, week, dayOfWeek, hour, minute, second',
    ],
    [{ hour: 24 }, "hour", "24", "0", 'hour "24" is outside 0-23; did you mean "0"?'],
    [
      { hour: 1.5 },
      "hour",
      "1.5",
      null,
      'hour "1.5" has an unexpected "."; hour takes 0-23, and ranges, steps and lists of them',
    ],
    [
      { hour: Number.NaN },
      "hour",
      "NaN",
      null,
      'hour "NaN" has an unexpected "N"; hour takes 0-23, and ranges, steps and lists of them',
    ],
    [{ hour: "" }, "hour", "", null, 'hour is empty; leave it out, or write "*"'],
    [{ hour: null }, "hour", "", null, "hour must be a number or text; got null"],
    [{ hour: ["9", "10"] }, "hour", "", null, "hour must be a number or text; got an array"],
    [{ hour: 9n }, "hour", "", null, "hour must be a number or text; got bigint"],
    [{ day: "2nd" }, "day", "2nd", "fri#2", 'day "2nd" needs a weekday; did you mean "fri#2"?'],
    [{ day: "2th fri" }, "day", "2th fri", "fri#2", 'day "2th fri" is not a day; did you mean "fri#2"?'],
    [
      { day: 30, month: "feb" },
      "day",
      "30",
      "L",
      'day "30" never comes; write "L" for the last day of the month, because no date matches it and the months, ' +
        "weeks, weekdays and years",
    ],
    [
      { week: 30, month: "feb" },
      null,
      '{"week":30,"month":"feb"}',
      null,
      '"{\\"week\\":30,\\"month\\":\\"feb\\"}" never comes; no date matches its months, weeks, weekdays and ' +
        "years together",
    ],
  ])("%o is explained", (fields, field, element, suggestion, message) => {
    const error = errorOf(() => new CronTrigger(fields as never));
    expect({ ...facts(error), message: error.message }).toEqual({ field, element, position: 0, suggestion, message });
  });

  test("an element within a list has its own position", () => {
    expect(facts(errorOf(() => new CronTrigger({ dayOfWeek: "mon, tuu, wed" })))).toEqual({
      field: "dayOfWeek",
      element: "tuu",
      position: 5,
      suggestion: "tue",
    });
  });
});

describe("hostile input", () => {
  test("text beyond the limit is refused without a look at it", () => {
    const error = errorOf(() => CronTrigger.fromCrontab(",".repeat(1_000_000)));
    expect(error.message.length).toBeLessThan(300);
    expect(error.element.length).toBeLessThanOrEqual(80);
    expect(error.message).toContain("has 1000000 characters, which is more than 1024");
    expect(errorOf(() => new CronTrigger({ minute: "1,".repeat(500_000) })).field).toBe("minute");
  });

  test.each([
    ["commas", ",".repeat(1020)],
    ["spaces", " ".repeat(1024)],
    ["words", "a ".repeat(512)],
    ["digits", `${"9".repeat(1000)} * * * *`],
    ["a long name", `* * * * ${"w".repeat(1000)}`],
    ["a long nickname", `@${"d".repeat(1000)}`],
    ["dashes", `${"-".repeat(1000)} * * * *`],
    ["ordinals", "1st ".repeat(250)],
    ["Unicode spaces", "*\u00a0*\u2003*\u3000* *"],
    ["a NUL", "*\u0000 * * * *"],
    ["lone surrogates", "\ud800 * * * *"],
  ])("%s are refused with a short message", (_name, text) => {
    expect(errorOf(() => CronTrigger.fromCrontab(text)).message.length).toBeLessThan(500);
  });

  test("a list as long as the limit allows is understood", () => {
    expect(CronTrigger.fromCrontab(`${"1,".repeat(500)}1 * * * *`).toString()).toBe("1 * * * *");
  });

  test.each([[undefined], [null], [5], [{}], [["* * * * *"]], [Symbol("cron")]])("%s is no crontab text", (value) => {
    expect(errorOf(() => CronTrigger.fromCrontab(value as never)).message).toMatch(/^crontab text must be text; got /);
  });
});

function errorOf(action: () => unknown): CronSyntaxError {
  try {
    action();
  } catch (error) {
    expect(error).toBeInstanceOf(CronSyntaxError);
    if (error instanceof CronSyntaxError) return error;
  }
  throw new Error("nothing was thrown");
}

function facts({ field, element, position, suggestion }: CronSyntaxError): object {
  return { field, element, position, suggestion };
}
