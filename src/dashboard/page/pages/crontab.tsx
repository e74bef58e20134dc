import { useState } from "preact/hooks";
import * as api from "../api.ts";
import { hrefOf } from "../hash.ts";
import { attempt, Button, Calm, capital, Field, many, Panel } from "../parts/basics.tsx";
import { go, refresh } from "../store.ts";
import { MY_ZONE } from "../time.ts";

interface ShownLine {
  readonly cron: string;
  readonly command: string;
  readonly says: string;
  readonly isGood: boolean;
}

/** Lines of a crontab become schedules of one task, with the command as their payload. */
export function CrontabPage() {
  const [text, setText] = useState("");
  const [taskId, setTask] = useState("");
  const [lines, setLines] = useState<readonly ShownLine[]>([]);
  const read = async (): Promise<void> => {
    const found = text.split("\n").flatMap((line) => {
      const [, cron, command] = /^\s*(@\w+|(?:\S+\s+){4}\S+)\s+(.+)$/.exec(line) ?? [];
      return cron === undefined || command === undefined || /^\s*#|^\s*\w+\s*=/.test(line) ? [] : [{ cron, command }];
    });
    setLines(await Promise.all(found.slice(0, 200).map(meaningOf)));
  };
  const good = lines.filter(({ isGood }) => isGood);
  const add = () =>
    attempt(async () => {
      for (const { cron, command } of good) {
        await api.addSchedule({
          taskId,
          trigger: { cron, timeZone: MY_ZONE },
          payload: { command },
          name: command.slice(0, 100),
        });
      }
      refresh();
      go(hrefOf("schedules", null, { taskId }));
      return `${many(good.length, "schedule")} added.`;
    });
  return (
    <>
      <h1 class="spaced">Paste a crontab</h1>
      <div class="grid two">
        <div class="panel form">
          <Field
            tag="textarea"
            rows={10}
            id="crontab"
            label="Lines"
            value={text}
            set={setText}
            placeholder="0 3 * * * /usr/local/bin/backup"
          />
          <Field
            id="task"
            label="Task"
            value={taskId}
            set={setTask}
            hint={`What runs each line. It gets { command } as its input. Times are read in ${MY_ZONE}.`}
          />
          <div class="actions">
            <Button onClick={read}>Read the lines</Button>
            <Button kind="primary" isWrite isOff={good.length === 0 || taskId === ""} onClick={add}>
              Add {many(good.length, "schedule")}
            </Button>
          </div>
        </div>
        <Panel title="What they mean">
          <ul class="rows">
            {lines.map(({ cron, command, says, isGood }) => (
              <li class="row tall" key={`${cron} ${command}`}>
                <code>{cron}</code>
                <span class={isGood ? "what" : "what problem"}>
                  {says}
                  <div class="faint">{command}</div>
                </span>
              </li>
            ))}
          </ul>
          {lines.length === 0 && <Calm>Nothing has been read yet.</Calm>}
        </Panel>
      </div>
    </>
  );
}

async function meaningOf({ cron, command }: { cron: string; command: string }): Promise<ShownLine> {
  try {
    const { description } = await api.previewTrigger({ cron, timeZone: MY_ZONE }, 1);
    return { cron, command, says: description, isGood: true };
  } catch (error) {
    if (!(error instanceof api.Refused)) throw error;
    return { cron, command, says: capital(error.message), isGood: false };
  }
}
