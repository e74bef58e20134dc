import { useEffect } from "preact/hooks";
import { Frame } from "./frame.tsx";
import { goLive } from "./live.ts";
import { CrontabPage } from "./pages/crontab.tsx";
import { OverviewPage } from "./pages/overview.tsx";
import { RunPage } from "./pages/run.tsx";
import { RunsPage } from "./pages/runs.tsx";
import { SchedulePage } from "./pages/schedule.tsx";
import { AddPage, EditPage } from "./pages/schedule-form.tsx";
import { SchedulesPage } from "./pages/schedules.tsx";
import { SignIn } from "./pages/sign-in.tsx";
import { SystemPage } from "./pages/system.tsx";
import { TaskPage, TasksPage } from "./pages/tasks.tsx";
import { TimelinePage } from "./pages/timeline.tsx";
import { Empty, Loading } from "./parts/basics.tsx";
import { usePlace, useStore } from "./store.ts";

export function App() {
  const session = useStore("session");
  const isIn = session !== null && session !== undefined;
  useEffect(() => {
    if (isIn) void goLive();
  }, [isIn]);
  if (session === null) return <SignIn />;
  return <Frame>{session === undefined ? <Loading rows={8} /> : <CurrentPage />}</Frame>;
}

function CurrentPage() {
  const { page, id, part } = usePlace();
  if (page === "overview") return <OverviewPage />;
  if (page === "add") return <AddPage />;
  if (page === "schedules") {
    if (id === null) return <SchedulesPage />;
    return part === "edit" ? <EditPage key={id} id={id} /> : <SchedulePage key={id} id={id} />;
  }
  if (page === "runs") return id === null ? <RunsPage /> : <RunPage key={id} id={id} />;
  if (page === "timeline") return <TimelinePage />;
  if (page === "tasks") return id === null ? <TasksPage /> : <TaskPage key={id} id={id} />;
  if (page === "system") return <SystemPage />;
  if (page === "crontab") return <CrontabPage />;
  return (
    <Empty isPage title="There is no such page">
      <p>The address may be mistyped, or of another version of this page.</p>
    </Empty>
  );
}
