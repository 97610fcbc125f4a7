import type { IdentityClient, Route } from "./routes.ts";
import type { PlatformSettings } from "./settings.ts";
import type { ConfigMap, PlatformSecret, Secret, Volume } from "./values.ts";
import type { PodNetwork, Workload } from "./workload.ts";

/** A: identity service with realms and access tokens (release line 1.4). B: the earlier login service with ID tokens. */
export type Variant = "A" | "B";

/**
 * One deployable part of the platform: the value that `components/<name>/manifest.ts` exports as `manifest`.
 * Everything here is pure data or a pure function: no clock, no network, no file system.
 */
export interface Component {
  /** The folder name below `components/`. */
  readonly name: string;
  /** What people call it, as a progress line shows it: "Object storage". */
  readonly title: string;
  /** Kubernetes namespace of its workloads; by variant where they differ. */
  readonly namespace: string | Readonly<Record<Variant, string>>;
  /** Variants that have this component; both when left out. */
  readonly variants?: readonly Variant[];
  readonly enabled: (settings: PlatformSettings) => boolean;
  /**
   * Schema of the component in the deployment's PostgreSQL. `{ database: "url" }` of its workloads logs in by a role that can reach
   * this schema alone.
   */
  readonly databaseSchema?: string;
  /** First pass: what others need to know of this component before anyone is deployed. */
  readonly declare?: (context: DeployContext) => ComponentDeclarations;
  /** Second pass: what is deployed. `context.declared` holds the declarations of every enabled component. */
  readonly deploy: (context: DeployContext) => ComponentResources;
}

export interface ComponentDeclarations {
  readonly routes?: readonly Route[];
  readonly identityClients?: readonly IdentityClient[];
}

/** A login of the database that can reach one schema. */
export interface DatabaseRole {
  readonly component: string;
  readonly user: string;
  readonly schema: string;
  readonly password: PlatformSecret;
}

export interface ComponentResources {
  readonly workloads: readonly Workload[];
  readonly volumes?: readonly Volume[];
  readonly secrets?: readonly Secret[];
  readonly configMaps?: readonly ConfigMap[];
  readonly podNetworks?: readonly PodNetwork[];
}

export interface DeployContext {
  readonly settings: PlatformSettings;
  /** True when the component of that name is part of this deployment. */
  readonly isEnabled: (component: string) => boolean;
  /** `host("portal")` is `portal.<domain>`. */
  readonly host: (service: string) => string;
  /** `publicUrl("portal")` is `https://portal.<domain>`, with the port where it is not the scheme's own; no slash at the end. */
  readonly publicUrl: (service: string) => string;
  /** Declarations of all enabled components, in deployment order. Empty during the first pass. */
  readonly declared: {
    readonly routes: readonly Route[];
    readonly identityClients: readonly IdentityClient[];
    /** Roles of the enabled components in the database; empty where all share one. */
    readonly databaseRoles: readonly DatabaseRole[];
  };
}
