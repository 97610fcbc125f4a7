import type { ObjectStore } from "../store/store.ts";
import type { Scrub } from "./scrub.ts";

const NAME = "scrub-finished";

/**
 * Runs a scrub when the last complete one is `interval` milliseconds ago. When that was is kept in the index, so that it
 * does not take one uninterrupted day of running. Called often; gives back how much damage was found.
 */
export async function scrubWhenDue(
  { index, now }: Pick<ObjectStore, "index" | "now">,
  scrub: Scrub,
  options: { readonly signal: AbortSignal; readonly interval: number; readonly bytesPerSecond: number },
): Promise<number> {
  const last = Number(index.get<{ value: string }>("select value from meta where name = ?", NAME)?.value ?? 0);
  // A time in the future comes from a clock that was wrong.
  if (scrub.report.finished === undefined || (last <= now() && now() - last < options.interval)) {
    return 0;
  }
  const { damaged } = await scrub.run(options.signal, options.bytesPerSecond);
  if (!options.signal.aborted) {
    await index.mutate(() => {
      index.run(
        "insert into meta (name, value) values (?, ?) on conflict (name) do update set value = excluded.value",
        NAME,
        String(now()),
      );
    });
  }
  return damaged.length;
}
