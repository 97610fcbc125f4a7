import type { IngressTls } from "./portal-values.ts";
import type { PlatformSecret } from "./values.ts";

/** A public host of the deployment, `<service>.<domain>`, and who answers on it. */
export interface Route {
  /** First label of the host name: `ades`. */
  readonly service: string;
  readonly workload: string;
  /** Port of the workload; `http` when left out. */
  readonly port?: string;
  /** Also answer below it: `*.<service>.<domain>` (virtual-host style buckets, per-workspace services). */
  readonly wildcard?: boolean;
  /** Also answer for each workspace: `<service>.<workspace>.<domain>`, with the same protection. */
  readonly perWorkspace?: boolean;
  /** When set and required, the gatekeeper stands in front of this host. */
  readonly protection?: Protection;
  /**
   * Anybody with an account puts content there that browsers open: its pages are not the platform's. The host is one of
   * USER_CONTENT_DOMAIN where that is set, which no cookie of the platform reaches.
   */
  readonly holdsUserContent?: boolean;
  /** Offer `<service>-open.<domain>` without protection where OPEN_INGRESS is true. */
  readonly offersOpenHost?: boolean;
  /** Annotations and certificates of its Ingress that the operator asked for; the embedded cluster has neither. */
  readonly ingress?: {
    readonly annotations?: Readonly<Record<string, string>>;
    readonly tls?: readonly IngressTls[];
  };
}

export interface Protection {
  readonly required: boolean;
  /** Identity client that owns the protected resources. */
  readonly clientId: string;
  /** Regular expressions on the path that pass without a token: documentation pages, probes. */
  readonly openPaths?: readonly string[];
}

/** A client of the identity service that the deployment creates or updates, never deletes. */
export interface IdentityClient {
  readonly clientId: string;
  readonly name: string;
  readonly description?: string;
  /** A public client has no secret. */
  readonly secret?: PlatformSecret;
  readonly redirectUris?: readonly string[];
  readonly webOrigins?: readonly string[];
  /** Where the client hears of ended sessions (OpenID Connect Back-Channel Logout 1.0). */
  readonly backChannelLogoutUri?: string;
  readonly resources?: readonly ProtectedResource[];
  /** People log in with it to use the services of the deployment: its tokens are for all of them. */
  readonly tokensForPlatform?: boolean;
  /** For a program that nobody logs in to: the parts of the realm's admin API that its service account may use (`realm-management`). */
  readonly managementRoles?: readonly string[];
}

export interface ProtectedResource {
  readonly name: string;
  /** Path patterns: `/eric/*`. */
  readonly uris: readonly string[];
  /** `view` when left out. */
  readonly scopes?: readonly string[];
  readonly users?: readonly string[];
  readonly roles?: readonly string[];
  /** Any user with a valid token. */
  readonly authenticated?: boolean;
}
