import pg from "pg";

export interface Listener {
  readonly isConnected: () => boolean;
  readonly close: () => Promise<void>;
}

interface ListenerOptions {
  readonly url: string;
  /** Channel of NOTIFY; a plain identifier. */
  readonly channel: string;
  /** A notification; its text as it was sent. */
  readonly onMessage: (payload: string) => void;
  /** Connected, for the first time or again: some notifications may have been missed. */
  readonly onConnect: () => void;
  readonly onError: (error: Error) => void;
}

/** Milliseconds before a lost connection is tried again. */
const RETRY = 250;

/** Listens to a channel of PostgreSQL on a connection of its own, which is opened again whenever it breaks. */
export async function openListener(options: ListenerOptions): Promise<Listener> {
  const { url, channel, onMessage, onConnect, onError } = options;
  if (!/^[a-z][a-z0-9_]{0,62}$/.test(channel)) {
    throw new TypeError(`"${channel}" is not a channel name; allowed: lower-case letters, digits and _`);
  }
  let client: pg.Client | undefined;
  let connected = false;
  let closed = false;
  let retry: NodeJS.Timeout | undefined;

  const connect = async () => {
    const next = new pg.Client({ connectionString: url, keepAlive: true, connectionTimeoutMillis: 10_000 });
    client = next;
    const broke = (error?: Error) => {
      if (client !== next || closed) {
        return;
      }
      client = undefined;
      connected = false;
      if (error !== undefined) {
        onError(error);
      }
      // Ended already, or never begun: nothing is left to report.
      next.end().catch(() => {});
      retry = setTimeout(() => void connect(), RETRY);
    };
    next.on("error", broke);
    next.on("end", () => broke());
    next.on("notification", ({ payload }) => onMessage(payload ?? ""));
    try {
      await next.connect();
      await next.query(`listen ${channel}`);
    } catch (error) {
      broke(error as Error);
      return;
    }
    connected = true;
    onConnect();
  };
  await connect();
  return {
    isConnected: () => connected,
    close: async () => {
      closed = true;
      clearTimeout(retry);
      await client?.end();
    },
  };
}
