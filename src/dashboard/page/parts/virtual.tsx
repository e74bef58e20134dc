import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

interface VirtualProps<T> {
  readonly items: readonly T[];
  /** Height of each row on a desk and on a phone, in pixels. */
  readonly rowHeight: number;
  readonly phoneHeight: number;
  /** Called when the end comes near. */
  readonly onEnd: () => void;
  readonly columns: number;
  readonly render: (item: T) => ComponentChildren;
}

export const PHONE = matchMedia("(max-width: 760px)");
const AHEAD = 12;

/** The rows of a table body that are in sight, and empty ones of the height of the others. */
export function VirtualRows<T>({ items, rowHeight, phoneHeight, onEnd, columns, render }: VirtualProps<T>) {
  const body = useRef<HTMLTableSectionElement>(null);
  const [range, setRange] = useState<readonly [number, number]>([0, 40]);
  const height = PHONE.matches ? phoneHeight : rowHeight;
  useEffect(() => {
    const look = (): void => {
      if (body.current === null) return;
      const top = -body.current.getBoundingClientRect().top;
      const first = Math.max(0, Math.floor(top / height) - AHEAD);
      const last = Math.ceil((top + innerHeight) / height) + AHEAD;
      setRange((old) => (old[0] === first && old[1] === last ? old : [first, last]));
      if (last + AHEAD >= items.length) onEnd();
    };
    look();
    addEventListener("scroll", look, { passive: true });
    addEventListener("resize", look);
    return () => {
      removeEventListener("scroll", look);
      removeEventListener("resize", look);
    };
  }, [items.length, height, onEnd]);
  const first = Math.min(range[0], items.length);
  const last = Math.min(range[1], items.length);
  return (
    <tbody ref={body}>
      <Spacer height={first * height} columns={columns} />
      {items.slice(first, last).map(render)}
      <Spacer height={(items.length - last) * height} columns={columns} />
    </tbody>
  );
}

function Spacer({ height, columns }: { height: number; columns: number }) {
  if (height <= 0) return null;
  return (
    <tr class="spacer" aria-hidden="true">
      <td colSpan={columns} style={{ height: `${height}px` }} />
    </tr>
  );
}
