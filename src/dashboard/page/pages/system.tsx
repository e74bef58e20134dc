import { useState } from "preact/hooks";
import * as actions from "../actions.ts";
import * as api from "../api.ts";
import { stop } from "../live.ts";
import { Act, Button, Calm, Chips, capital, Facts, Failure, Field, Loading, Panel, When } from "../parts/basics.tsx";
import { DialogButton, RangeFields, rangeOf } from "../parts/dialogs.tsx";
import { Item } from "../parts/item.tsx";
import { placelessOf, ruleOf } from "../rule.ts";
import { setState, useNow, useStore, useZone } from "../store.ts";
import { durationMs, durationText, MY_ZONE, roughText, whenText } from "../time.ts";
import { forget, useData, useSettled } from "../use-data.ts";

export function SystemPage() {
  const { data: health, error } = useData("health", api.getHealth);
  if (error !== null) return <Failure error={error} />;
  if (health === undefined) return <Loading />;
  return (
    <>
      <h1 class="spaced">System</h1>
      <div class="grid two">
        <div class="grid">
          <Schedulers health={health} />
          <Blackouts />
        </div>
        <div class="grid">
          <Store health={health} />
          <You />
        </div>
      </div>
    </>
  );
}

const ROLES = { both: "fires schedules and runs jobs", scheduler: "fires schedules", worker: "runs jobs" } as const;

function Schedulers({ health }: { health: api.ShownHealth }) {
  const { schedulers } = health;
  const now = useNow();
  return (
    <Panel title="Schedulers" count={`${schedulers.length} alive`}>
      {schedulers.length === 0 && (
        <Calm>None is alive: nothing fires, and nothing runs, until a program calls start() or tick().</Calm>
      )}
      <ul class="rows">
        {schedulers.map(({ identity, role, isResident, tasks, executors, aliveUntil }) => (
          <Item
            key={identity}
            kind="tall"
            tone="success"
            name={identity}
            what={
              <>
                {ROLES[role]}
                {isResident ? "" : ", by ticks"}; tasks: {tasks.join(", ") || "none"}; in {executors.join(", ")}
              </>
            }
            side={`counts as alive for ${roughText(Math.max(0, Date.parse(aliveUntil) - now))}`}
          />
        ))}
      </ul>
    </Panel>
  );
}

/** Times in which nothing fires. */
function Blackouts() {
  const { data } = useData("blackouts", api.getBlackouts);
  const now = useNow();
  const zone = useZone();
  const when = ({ from, until, trigger, duration }: api.ShownBlackout): string => {
    if (from !== null && until !== null) {
      return `${whenText(Date.parse(from), zone, now)} to ${whenText(Date.parse(until), zone, now)}`;
    }
    const { code, timeZone } = ruleOf(trigger);
    return `${code} ${timeZone ?? ""}, for ${durationText(durationMs(duration) ?? 0)} each time`;
  };
  return (
    <Panel title="Blackouts" count="times in which nothing fires" side={<AddBlackout />}>
      {data?.items.length === 0 && <Calm>There is none.</Calm>}
      <ul class="rows">
        {data?.items.map((blackout) => {
          const { id, reason, taskIds, labels, missed, by } = blackout;
          const about = [...(taskIds ?? []), ...Object.entries(labels ?? {}).map((pair) => pair.join(":"))];
          return (
            <Item
              key={id}
              kind="tall"
              tone="paused"
              name={id}
              what={
                <>
                  {when(blackout)}
                  {about.length > 0 && `; only ${about.join(", ")}`}
                  {missed === "runOnce" && "; what it covers runs once, afterwards"}
                  {reason && <div class="dim">{reason}</div>}
                </>
              }
              side={by}
            >
              <Act kind="small danger" work={() => actions.removeBlackout(id)}>
                Remove
              </Act>
            </Item>
          );
        })}
      </ul>
    </Panel>
  );
}

function AddBlackout() {
  const [recurs, setRecurs] = useState("");
  const [cron, setCron] = useState("");
  const [timeZone, setZone] = useState(MY_ZONE);
  const rule = useSettled(cron && JSON.stringify({ cron, timeZone }));
  const { data, error } = useData(
    recurs && rule ? `begins ${rule}` : null,
    (signal) => api.previewTrigger(JSON.parse(rule), 1, signal),
    "once",
  );
  const next = data?.items[0];
  const save: Parameters<typeof DialogButton>[0]["save"] = async (given) => {
    const { id, lasts: duration, tasks = "", reason } = given;
    const taskIds = tasks.split(/[\s,]+/).filter(Boolean);
    return actions.addBlackout({
      id,
      ...(recurs ? { trigger: { cron, timeZone }, duration } : rangeOf(given, MY_ZONE)),
      taskIds: taskIds.length > 0 ? taskIds : undefined,
      reason: reason || undefined,
    });
  };
  return (
    <DialogButton words="Add blackout" title="Add a blackout" action="Add it" save={save} kind="small">
      <Field id="id" label="Id" required placeholder="such as inventory-2027" />
      <div class="field">
        <Chips
          label="How often"
          value={recurs}
          options={[
            ["", "Once"],
            ["again", "Again and again"],
          ]}
          onChange={setRecurs}
        />
      </div>
      {recurs ? (
        <>
          <Field
            id="begins"
            label="Begins"
            class="input big"
            required
            value={cron}
            set={setCron}
            placeholder="0 22 * * sat"
            hint={
              data
                ? `${data.description}${next ? `; next ${whenText(Date.parse(next.at), timeZone, Date.now())}` : ""}`
                : "minute hour day month weekday"
            }
            problem={error && capital(placelessOf(error))}
          />
          <Field id="lasts" label="Lasts" required placeholder="such as 30m or 8h" />
          <Field id="zone" label="Time zone" required value={timeZone} set={setZone} />
        </>
      ) : (
        <RangeFields zone={MY_ZONE} />
      )}
      <Field id="tasks" label="Only for these tasks" placeholder="all, unless you name some" />
      <Field id="reason" label="Why" maxLength={500} />
    </DialogButton>
  );
}

function Store({ health }: { health: api.ShownHealth }) {
  const { isStoreReached, storeError, latencyMs, clockSkewMs, storeWarnings, ...about } = health;
  const { eventsShared, versions, identity } = about;
  const skew = clockSkewMs === null ? null : durationText(Math.abs(clockSkewMs));
  const side = (clockSkewMs ?? 0) < 0 ? "behind" : "ahead";
  return (
    <Panel title="Store and events">
      <Facts
        rows={[
          ["Store", isStoreReached ? "reached" : <span class="problem">{storeError?.message ?? "not reached"}</span>],
          ["Answers in", latencyMs !== null && durationText(latencyMs)],
          ["Its clock", skew && `${skew} ${side}`],
          ["Look after", storeWarnings[0] && storeWarnings.map(({ message }) => <p class="problem">{message}</p>)],
          ["Events of others", eventsShared ? "come in" : "do not come in: this page asks every 5 s"],
          ["Asked through", identity],
          ["Version", versions && `${versions.package}, schema ${versions.schema ?? "none"}`],
        ]}
      />
    </Panel>
  );
}

/** Who looks, and how to stop. */
function You() {
  const session = useStore("session");
  if (session == null) return null;
  const { scope, name, expiresAt } = session;
  return (
    <Panel title="You">
      <Facts
        rows={[
          ["Name", name],
          ["You may", scope === "write" ? "see, change and run everything" : "see everything, change nothing"],
          ["Signed in until", expiresAt && <When ms={Date.parse(expiresAt)} zone={null} />],
        ]}
      />
      {expiresAt === null ? null : (
        <div class="subbar">
          <Button kind="small" onClick={leave}>
            Sign out
          </Button>
        </div>
      )}
    </Panel>
  );
}

async function leave(): Promise<void> {
  stop();
  await api.signOut();
  forget();
  setState({ session: null });
}
