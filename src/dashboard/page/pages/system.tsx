import * as api from "../api.ts";
import { stop } from "../live.ts";
import { Button, Facts, Failure, Loading, Panel, When } from "../parts/basics.tsx";
import { Glyph } from "../parts/glyph.tsx";
import { type State, setState, useStore } from "../store.ts";
import { durationText } from "../time.ts";
import { forget, useData } from "../use-data.ts";

const sessionOf = (state: State) => state.session;

export function SystemPage() {
  const { data: health, error } = useData("health", api.getHealth);
  if (error !== null) return <Failure error={error} />;
  if (health === undefined) return <Loading />;
  return (
    <>
      <h1 class="spaced">System</h1>
      <div class="grid two wide-left">
        <Schedulers health={health} />
        <div class="grid">
          <Store health={health} />
          <You />
        </div>
      </div>
    </>
  );
}

const ROLES = { both: "fires schedules and runs jobs", scheduler: "fires schedules", worker: "runs jobs" } as const;

function Schedulers({ health }: { health: api.Health }) {
  const { schedulers } = health;
  return (
    <Panel title="Schedulers" count={`${schedulers.length} alive`}>
      {schedulers.length === 0 ? (
        <p class="calm-text">
          None is alive: nothing fires, and nothing runs, until a program calls start() or tick().
        </p>
      ) : null}
      <ul class="rows">
        {schedulers.map(({ identity, role, isResident, tasks, executors, aliveUntil }) => (
          <li class="row tall" key={identity} data-row>
            <span class="o success">
              <Glyph tone="active" />
            </span>
            <span class="name">{identity}</span>
            <span class="what">
              {ROLES[role]}
              {isResident ? "" : ", by ticks"}; tasks: {tasks.length === 0 ? "none" : tasks.join(", ")}; in{" "}
              {executors.join(", ")}
            </span>
            <span class="dim">
              counts as alive until <When ms={Date.parse(aliveUntil)} zone={null} />
            </span>
          </li>
        ))}
      </ul>
    </Panel>
  );
}

function Store({ health }: { health: api.Health }) {
  const { isStoreReached, storeError, latencyMs, clockSkewMs, eventsShared, versions, identity } = health;
  const skew = clockSkewMs === null ? null : durationText(Math.abs(clockSkewMs));
  const isSkewed = Math.abs(clockSkewMs ?? 0) > 1000;
  const side = (clockSkewMs ?? 0) < 0 ? "behind" : "ahead";
  return (
    <Panel title="Store and events">
      <Facts
        rows={[
          ["Store", isStoreReached ? "reached" : <span class="problem">{storeError?.message ?? "not reached"}</span>],
          ["Answers in", latencyMs !== null && durationText(latencyMs)],
          ["Its clock", skew && <span class={isSkewed ? "problem" : ""}>{`${skew} ${side}`}</span>],
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
  const session = useStore(sessionOf);
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
