import { useEffect, useState } from "react";

import { formatLocalTime, formatRelative, formatTime } from "./format.ts";

/** `3 minutes ago`, kept current; the exact time, and that of the reader's clock, on hover and for programs. */
export function RelativeTime({ time }: { readonly time: string | number | Date }) {
  const [now, setNow] = useState(() => new Date());
  useEffect(() => {
    const timer = setInterval(() => setNow(new Date()), 30_000);
    return () => clearInterval(timer);
  }, []);
  const date = new Date(time);
  return (
    <time dateTime={date.toISOString()} title={`${formatTime(date)} (${formatLocalTime(date)})`}>
      {formatRelative(date, now)}
    </time>
  );
}
