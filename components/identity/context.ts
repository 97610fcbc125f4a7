import type { Logger } from "@swath/service";
import type { CallerLimits } from "@swath/service/caller-limits";
import type { FairPace } from "@swath/service/fair-pace";
import type pg from "pg";

import type { ClientAddresses } from "./protocol/client-addresses.ts";
import type { DelegateClient } from "./variant-b/pdp/delegate.ts";
import type { Mailer } from "./mail/mailer.ts";
import type { PasswordHasher } from "./login/hasher.ts";
import type { PolicyCache } from "./policy/policy-cache.ts";
import type { RealmCache } from "./realms/realm-cache.ts";
import type { ChangeFeed } from "./store/changes.ts";
import type { RefreshRotation } from "./store/refresh-batches.ts";

/** What every part of the service works with. */
export interface IdentityContext {
  readonly pool: pg.Pool;
  /** When this process could serve. */
  readonly startedAt: Date;
  readonly rotation: RefreshRotation;
  readonly logger: Logger;
  /** Without a slash at the end. */
  readonly publicUrl: string;
  readonly domain: string;
  /** Set where the service answers as the login service of variant B, too. */
  readonly login?: LoginFace | undefined;
  readonly realms: RealmCache;
  readonly changes: ChangeFeed;
  readonly hasher: PasswordHasher;
  /** A common password that people may have all the same: the default of a deployment that other machines cannot reach. */
  readonly demoPassword?: string | undefined;
  readonly limits: CallerLimits;
  /** Turns of logins while others guess. */
  readonly loginPace: FairPace;
  readonly clientAddresses: ClientAddresses;
  /** Who registers clients below a realm's address (RFC 7591); nobody when left out. */
  readonly registration?: "open" | "operators" | undefined;
  /** Rules of clients that protect resources. */
  readonly policies: PolicyCache;
}

/** How the login service of variant B answers (variant-b/). */
export interface LoginFace {
  /** First segment of its paths: `oxauth`. */
  readonly provider: string;
  readonly realm: string;
  /** Who registers clients. */
  readonly registration: "open" | "operators";
  /** Whom the decision point answers: callers with a token or a secret, or all. */
  readonly decisions: "callers" | "open";
  /** Other decision points that policies may name; set where there is a policy decision point. */
  readonly delegates?: DelegateClient | undefined;
  /** Set where users have their profile there. */
  readonly profile?: UserProfile | undefined;
}

export interface UserProfile {
  readonly mailer: Mailer;
  /** How long users who asked for the removal of their account may think again. */
  readonly removalSeconds: number;
}
