# Random rules of RFC 5545 with what python3-dateutil makes of them, a line of JSON each.
# Arguments: how many, a seed, and time zones (default: UTC).
#
# Left out is what dateutil reads in another way than the RFC: it takes the week of the start from the start on alone
# where there is a BYSETPOS (here such rules start on the first day of a week), takes days of January for days of
# week 53 that are in week 52 (2022-01-01), and knows no week numbers from the end but the last. Rules that it needs too long for are left out, too.
import json, random, signal, sys
from datetime import datetime, timedelta, timezone
from dateutil.rrule import rrulestr
from dateutil import tz

count, seed, zones = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:] or ["UTC"]
rng = random.Random(seed)
DAYS = ["MO", "TU", "WE", "TH", "FR", "SA", "SU"]
FIRST = 12

def some(values, most):
    return ",".join(str(v) for v in sorted(rng.sample(list(values), rng.randint(1, min(most, len(list(values)))))))

def rule():
    freq = rng.choice(["YEARLY", "MONTHLY", "WEEKLY", "DAILY"] * 3 + ["HOURLY", "MINUTELY", "SECONDLY"])
    parts = ["FREQ=" + freq]
    if rng.random() < 0.5: parts.append("INTERVAL=%d" % rng.randint(1, {"YEARLY": 4, "MONTHLY": 14, "WEEKLY": 6, "DAILY": 40, "HOURLY": 30, "MINUTELY": 100, "SECONDLY": 4000}[freq]))
    by = rng.random
    if by() < 0.25: parts.append("BYMONTH=" + some(range(1, 13), 4))
    if freq == "YEARLY" and by() < 0.15: parts.append("BYWEEKNO=" + some([*range(1, 52), -1], 4))
    if freq == "YEARLY" and by() < 0.15: parts.append("BYYEARDAY=" + some([*range(1, 367), -1, -100, -366], 5))
    if freq != "WEEKLY" and by() < 0.3: parts.append("BYMONTHDAY=" + some([*range(1, 32), -1, -2, -3, -31], 5))
    if by() < 0.45:
        if freq in ("YEARLY", "MONTHLY") and "BYWEEKNO" not in ";".join(parts) and by() < 0.6:
            n = [1, 2, 3, 4, 5, -1, -2, -5] + ([20, 53, -53] if freq == "YEARLY" else [])
            parts.append("BYDAY=" + ",".join(str(rng.choice(n)) + d for d in rng.sample(DAYS, rng.randint(1, 3))))
        else:
            parts.append("BYDAY=" + ",".join(rng.sample(DAYS, rng.randint(1, 4))))
    if by() < 0.2: parts.append("BYHOUR=" + some(range(24), 3))
    if by() < 0.2: parts.append("BYMINUTE=" + some(range(60), 3))
    if by() < 0.15: parts.append("BYSECOND=" + some(range(60), 3))
    if len(parts) > 2 and any(p.startswith("BY") for p in parts) and by() < 0.2: parts.append("BYSETPOS=" + some([1, 2, 3, -1, -2], 2))
    if by() < 0.3: parts.append("WKST=" + rng.choice(DAYS))
    return parts

class Slow(Exception): pass
def alarm(*_): raise Slow()
signal.signal(signal.SIGVTALRM, alarm)

made = 0
while made < count:
    zone = rng.choice(zones)
    start = datetime(rng.randint(1995, 2035), rng.randint(1, 12), rng.randint(1, 28), rng.randint(0, 23), rng.choice([0, 15, 30, rng.randint(0, 59)]), rng.choice([0, 0, rng.randint(0, 59)]))
    parts = rule()
    text = ";".join(parts)
    if "WEEKLY" in text and "BYSETPOS" in text:
        first_day = next((DAYS.index(p[5:]) for p in parts if p.startswith("WKST=")), 0)
        start -= timedelta(days=(start.weekday() - first_day) % 7)
    bound = rng.random()
    naive = "%Y%m%dT%H%M%S"
    if bound < 0.15: parts.append("COUNT=%d" % rng.randint(1, 15))
    elif bound < 0.3:
        until = start + timedelta(days=rng.randint(0, 2000), seconds=rng.randint(0, 86399))
        parts.append("UNTIL=" + until.strftime(naive) + "Z")
    head = "DTSTART:%sZ" % start.strftime(naive) if zone == "UTC" else "DTSTART;TZID=%s:%s" % (zone, start.strftime(naive))
    lines = [head, "RRULE:" + ";".join(parts)]
    suffix = (lambda d: ":" + d.strftime(naive) + "Z") if zone == "UTC" else (lambda d: ";TZID=%s:%s" % (zone, d.strftime(naive)))
    signal.setitimer(signal.ITIMER_VIRTUAL, 0.04)
    try:
        base = rrulestr("\n".join(lines), tzids=tz.gettz)
        first = []
        for one in base:
            first.append(one)
            if len(first) == 30: break
        if rng.random() < 0.2 and first: lines.append("EXDATE" + suffix(rng.choice(first).replace(tzinfo=None)))
        if rng.random() < 0.2: lines.append("RDATE" + suffix(start + timedelta(days=rng.randint(0, 400), hours=rng.randint(0, 23))))
        fires = []
        for one in rrulestr("\n".join(lines), tzids=tz.gettz, forceset=True):
            fires.append(one)
            if len(fires) == FIRST: break
    except Slow:
        continue
    except (ValueError, OverflowError, IndexError):
        continue
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    is_whole = len(fires) < FIRST
    # dateutil knows no clock changes after 2037.
    if zone != "UTC": is_whole, fires = False, [one for one in fires if one.year < 2037]
    # Times that clocks go over are marked, because dateutil counts them as times.
    fired = [int(one.timestamp() * 1000) for one in fires]
    gaps = [place for place, one in enumerate(fires) if not tz.datetime_exists(one)]
    print(json.dumps({"text": "\n".join(lines), "fires": fired, "gaps": gaps, "isWhole": is_whole}))
    made += 1
