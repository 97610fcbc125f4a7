import type { Profile } from "../profiles/model.ts";
import type { ServerSize } from "../profiles/quantities.ts";
import type { Target } from "../store/servers.ts";

/** What finds a server again after the hub was away: plain JSON. */
export type Handle = Readonly<Record<string, unknown>>;

/** A server that is to start. */
export interface Launch {
  readonly id: string;
  readonly user: string;
  readonly name: string;
  readonly profile: Profile;
  readonly options: Readonly<Record<string, unknown>>;
  readonly size: ServerSize;
  /** `/user/eric/` or `/`. */
  readonly base: string;
  /** Public origin of the server. */
  readonly origin: string;
  /** JupyterHub's variables and the platform's. */
  readonly env: Readonly<Record<string, string>>;
}

export interface Started {
  readonly handle: Handle;
  readonly target: Target;
  /** Path that answers below 500 once it is ready; ready as soon as it runs where left out. */
  readonly readyPath?: string;
}

export type Liveness = { readonly alive: true } | { readonly alive: false; readonly reason: string };

export interface Usage {
  readonly memoryBytes: number;
  /** Seconds of processor time since the start. */
  readonly cpuSeconds?: number;
  readonly processes?: number;
  /** Cores in use, where they are told as such. */
  readonly cores?: number;
}

/** Starts servers somewhere, and knows what became of them. Nothing here lives in memory: a hub that starts again goes on. */
export interface Spawner {
  /** What of a profile cannot be had here, and the command that makes it possible. */
  readonly whyNot: (profile: Profile) => Promise<Unavailable | undefined>;
  /** Where a server that is being started will be found: kept before anything is started. */
  readonly plan: (launch: Launch) => Handle;
  readonly start: (launch: Launch, handle: Handle, onEvent: (message: string) => void) => Promise<Started>;
  readonly poll: (handle: Handle) => Promise<Liveness>;
  /** Ends it, gently at first; nothing of it is left afterwards. */
  readonly stop: (handle: Handle) => Promise<void>;
  readonly usage: (handle: Handle) => Promise<Usage | undefined>;
  /** The end of what it wrote. */
  readonly log: (handle: Handle) => Promise<string>;
}

export interface Unavailable {
  readonly reason: string;
  /** What an operator types. */
  readonly command?: string;
}
