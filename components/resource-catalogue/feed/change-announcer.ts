import { type Listener, openListener } from "@swath/postgres/pool";
import type pg from "pg";

/** Notifications of one process are sent at most this often. */
const MIN_PAUSE_MS = 20;
const CHANNEL = "catalogue_change";
/** Its commit does not wait for the disk, which is for those who write: what it says is not kept anyway. */
const NOTIFY = `/* prepared: notify-change */ select set_config('synchronous_commit', 'off', true), pg_notify('${CHANNEL}', '')`;

/** Tells followers, here and in every other process, that there is something new. */
export interface ChangeAnnouncer {
  readonly announce: () => void;
  /** Calls back at each announcement; gives a function that ends it. */
  readonly onAnnounced: (listener: () => void) => () => void;
  readonly close: () => Promise<void>;
}

interface ChangeAnnouncerOptions {
  readonly pool: pg.Pool;
  readonly url: string;
  readonly onError: (error: Error) => void;
}

/**
 * Announces after commits rather than in transactions: NOTIFY inside of them would let only one commit at a time. An announcement that is
 * lost with a process is made up for by followers, who also look by themselves every second.
 */
export async function openChangeAnnouncer({ pool, url, onError }: ChangeAnnouncerOptions): Promise<ChangeAnnouncer> {
  const listeners = new Set<() => void>();
  const tell = (): void => listeners.forEach((listener) => listener());
  const listener: Listener = await openListener({ url, channel: CHANNEL, onMessage: tell, onConnect: tell, onError });
  let pending: NodeJS.Timeout | undefined;
  return {
    announce: () => {
      pending ??= setTimeout(() => {
        pending = undefined;
        pool.query(NOTIFY).catch(onError);
      }, MIN_PAUSE_MS);
    },
    onAnnounced: (added) => {
      listeners.add(added);
      return () => listeners.delete(added);
    },
    close: async () => {
      clearTimeout(pending);
      await listener.close();
    },
  };
}
