const UNITS = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];

/** `1536` → `1.5 KiB`. Three digits at most, so that columns stay narrow. */
export function formatBytes(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (Math.abs(value) >= 1000 && unit < UNITS.length - 1) {
    value /= 1024;
    unit += 1;
  }
  const digits = unit === 0 || Math.abs(value) >= 100 ? 0 : 1;
  return `${value.toFixed(digits).replace(/\.0$/, "")} ${UNITS[unit]}`;
}

const UNIT_BYTES: ReadonlyMap<string, number> = new Map(Object.entries<number>({
  "": 1, b: 1,
  k: 1e3, kb: 1e3, m: 1e6, mb: 1e6, g: 1e9, gb: 1e9, t: 1e12, tb: 1e12,
  kib: 2 ** 10, ki: 2 ** 10, mib: 2 ** 20, mi: 2 ** 20, gib: 2 ** 30, gi: 2 ** 30, tib: 2 ** 40, ti: 2 ** 40,
})); // prettier-ignore

/** Reads what people type for an amount: `500 MB`, `1.5GiB`, `2048`; undefined for anything else. */
export function parseBytes(text: string): number | undefined {
  const match = /^(\d+(?:\.\d+)?)\s*([a-z]*)$/i.exec(text.trim());
  const unit = UNIT_BYTES.get(match?.[2]?.toLowerCase() ?? "?");
  const bytes = match === null || unit === undefined ? Number.NaN : Math.round(Number(match[1]) * unit);
  return Number.isSafeInteger(bytes) ? bytes : undefined;
}

/** `12345` → `12,345`, in the reader's language. */
export function formatCount(count: number): string {
  return count.toLocaleString();
}

/** `1 object`, `2 objects`. */
export function formatPlural(count: number, one: string, many = `${one}s`): string {
  return `${formatCount(count)} ${count === 1 ? one : many}`;
}

/** `75` → `1 min 15 s`; two units at most. */
export function formatDuration(seconds: number): string {
  if (seconds < 10) {
    return `${Math.max(0, seconds).toFixed(1).replace(/\.0$/, "")} s`;
  }
  let left = Math.round(seconds);
  const parts: string[] = [];
  for (const [unit, size] of [
    ["d", 86_400],
    ["h", 3600],
    ["min", 60],
    ["s", 1],
  ] as const) {
    const count = Math.floor(left / size);
    left -= count * size;
    if (count > 0 || parts.length > 0) {
      parts.push(`${count} ${unit}`);
    }
  }
  return parts
    .slice(0, 2)
    .filter((part) => !part.startsWith("0 "))
    .join(" ");
}

const SPANS = [
  ["year", 31_557_600],
  ["month", 2_629_800],
  ["day", 86_400],
  ["hour", 3600],
  ["minute", 60],
] as const;

/** `3 minutes ago`, `in 2 days`, in the reader's language. */
export function formatRelative(time: Date, now: Date): string {
  const seconds = (time.getTime() - now.getTime()) / 1000;
  const relative = new Intl.RelativeTimeFormat(undefined, { numeric: "auto" });
  const span = SPANS.find(([, size]) => Math.abs(seconds) >= size);
  return span === undefined
    ? relative.format(Math.round(seconds), "second")
    : relative.format(Math.trunc(seconds / span[1]), span[0]);
}

/** `2019-04-11 10:50 UTC`: the same for every reader, as scenes, logs and other programs say it. */
export function formatTime(time: Date): string {
  return Number.isNaN(time.getTime()) ? "unknown" : `${time.toISOString().slice(0, -8).replace("T", " ")} UTC`;
}

/** The same moment on the reader's own clock, with its zone. */
export function formatLocalTime(time: Date): string {
  return time.toLocaleString(undefined, {
    year: "numeric",
    month: "short",
    day: "numeric",
    hour: "numeric",
    minute: "2-digit",
    timeZoneName: "short",
  });
}
