import type { LogoutTokenVerifier } from "@swath/auth";
import type { LoginFlow } from "@swath/auth/login";
import type { Logger } from "@swath/service";
import type { CallerPlaces } from "@swath/service/caller-limits";

import type { CallerFinder } from "./api/caller.ts";
import type { Profiles } from "./profiles/profiles.ts";
import type { Lifecycle } from "./servers/lifecycle.ts";
import type { UsageSamples } from "./servers/watch.ts";
import type { Logins } from "./session/logins.ts";
import type { HubDatabase } from "./store/database.ts";
import type { StorageKeys } from "./workspace/storage-keys.ts";

/** What the hub's routes work with. */
export interface HubContext {
  readonly sql: HubDatabase;
  readonly logger: Logger;
  /** `https://application-hub.example.org` */
  readonly publicUrl: string;
  readonly cookieName: string;
  readonly callers: CallerFinder;
  readonly logins: Logins;
  readonly flow: LoginFlow | undefined;
  /** Checks what the identity service tells of logouts; undefined without one. */
  readonly logoutTokens: LogoutTokenVerifier | undefined;
  /** Where people log out at the identity service. */
  readonly endSessionUrl: () => Promise<string | undefined>;
  readonly profiles: Profiles;
  readonly lifecycle: Lifecycle;
  readonly samples: UsageSamples;
  readonly storageKeys: StorageKeys;
  /** Public addresses of the platform's services by their ids. */
  readonly services: Readonly<Record<string, string>>;
  readonly serviceTokens: readonly string[];
  readonly s3: { readonly url: string; readonly region: string } | undefined;
  readonly workspacePrefix: string;
  readonly hubSecret: string;
  readonly originOf: (label: string) => string;
  readonly progressStreams: CallerPlaces;
  readonly quotas: { readonly servers: number; readonly cores: number; readonly memoryBytes: number };
}
