"""Writes what an APScheduler has as JSON, which `escapement import` reads. Nothing is pickled.

Version 3, with a scheduler that was started (also with paused=True):  export_jobs(scheduler, "jobs.json")
Version 4, with an AsyncScheduler:                      await export_schedules(scheduler, "schedules.json")
"""

import json
from datetime import date, timedelta, tzinfo
from enum import Enum

JOB = "id name func_ref args kwargs trigger executor misfire_grace_time coalesce max_instances next_run_time"
SCHEDULE = "id task_id args kwargs trigger paused coalesce misfire_grace_time max_jitter metadata job_executor next_fire_time"
TRIGGER = (
    "fields interval run_date run_time start_date end_date start_time end_time timezone jitter triggers threshold"
    " years months weeks days hours minutes seconds microseconds year month day week day_of_week hour minute second"
)


def parts(thing, names):
    return {name: getattr(thing, name) for name in names.split() if hasattr(thing, name)}


def plain(value):
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, tzinfo):
        return str(value)
    if isinstance(value, Enum):
        return value.name
    if hasattr(value, "is_default"):  # a field of a CronTrigger
        return {"name": value.name, "text": str(value), "default": value.is_default}
    kind = type(value).__name__
    return {"class": kind, **parts(value, TRIGGER)} if kind.endswith("Trigger") else {"not_json": kind}


def export_jobs(scheduler, path):
    write(path, {"apscheduler": 3, "jobs": [parts(job, JOB) for job in scheduler.get_jobs()]})


async def export_schedules(scheduler, path):
    schedules = await scheduler.get_schedules()
    write(path, {"apscheduler": 4, "schedules": [parts(schedule, SCHEDULE) for schedule in schedules]})


def write(path, value):
    with open(path, "w", encoding="utf-8") as file:
        json.dump(value, file, default=plain, indent=1)
