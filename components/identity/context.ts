import type { Logger } from "@swath/service";
import type pg from "pg";

import type { PasswordHasher } from "./login/hasher.ts";
import type { RealmCache } from "./realms/realm-cache.ts";
import type { ChangeFeed } from "./store/changes.ts";

/** What every part of the service works with. */
export interface IdentityContext {
  readonly pool: pg.Pool;
  /** When this process could serve. */
  readonly startedAt: Date;
  readonly logger: Logger;
  /** Without a slash at the end. */
  readonly publicUrl: string;
  readonly domain: string;
  readonly realms: RealmCache;
  readonly changes: ChangeFeed;
  readonly hasher: PasswordHasher;
}
