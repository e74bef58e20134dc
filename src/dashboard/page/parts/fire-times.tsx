import type { ShownPreview } from "../api.ts";
import { hrefOf } from "../hash.ts";
import { useNow } from "../store.ts";
import { clockText, dayText, MY_ZONE, offsetText } from "../time.ts";
import { Calm } from "./basics.tsx";
import { ClockChange } from "./glyph.tsx";

interface FireTimesProps {
  readonly preview: ShownPreview;
  readonly zone: string;
  readonly limit: number;
  /** The schedule, each fire time of which can be explained; without it, each is shown in the reader's zone besides. */
  readonly id?: string;
}

/** The next fire times, and the next ones that a change of the clocks touches, however far away. */
export function FireTimes({ preview: { items, skipped }, zone, limit, id }: FireTimesProps) {
  const now = useNow();
  const far = items.slice(limit).filter(({ clockChange }) => clockChange !== null);
  const isMine = zone === MY_ZONE;
  return (
    <>
      {items.length === 0 && <Calm>It will not fire any more.</Calm>}
      <table class="t-fires">
        {id === undefined && (
          <thead>
            <tr>
              <th>Its zone ({zone})</th>
              <th>{!isMine && `Yours (${MY_ZONE})`}</th>
              <th>
                <span class="visually-hidden">Clock changes</span>
              </th>
            </tr>
          </thead>
        )}
        <tbody>
          {[...items.slice(0, limit), ...far.slice(0, 3)].map(({ at, clockChange, blackout }, index) => {
            const ms = Date.parse(at);
            const when = `${dayText(ms, zone, now)} ${clockText(ms, zone)}`;
            return (
              <tr key={at} class={index === limit ? "later" : ""}>
                <td class="nowrap">{id === undefined ? when : <a href={hrefOf("schedules", id, { at })}>{when}</a>}</td>
                <td class="dim nowrap">
                  {id !== undefined ? offsetText(ms, zone) : !isMine && clockText(ms, MY_ZONE)}
                </td>
                <td class="r">
                  <ClockChange of={clockChange} />
                  {blackout && <span class="badge">blackout {blackout}</span>}
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
      {skipped.length > 0 && (
        <Calm>
          <span class="badge dst">left out</span> {skipped.slice(0, 3).join(", ").replaceAll("T", " ")}: clocks go
          forward, and nothing fires.
        </Calm>
      )}
    </>
  );
}
