// What the REST API gives.

export interface Project {
  readonly project_id: number;
  readonly name: string;
  readonly owner_name: string;
  /** The registry that it is a cache of. */
  readonly registry_id?: number;
  readonly repo_count: number;
  readonly metadata: {
    readonly public: "true" | "false";
    readonly allow_sparse_index: "true" | "false";
    readonly enable_content_trust_cosign: "true" | "false";
  };
  readonly creation_time: string;
  readonly current_user_role_ids?: readonly number[];
  /** Bytes; -1: no limit. */
  readonly quota?: { readonly hard: { readonly storage: number }; readonly used: { readonly storage: number } };
}

export interface Repository {
  readonly id: number;
  /** With the project. */
  readonly name: string;
  readonly description: string;
  readonly artifact_count: number;
  readonly pull_count: number;
  readonly update_time: string;
  readonly creation_time: string;
}

export interface Tag {
  readonly name: string;
  readonly push_time: string;
  readonly pull_time: string | null;
}

export interface Label {
  readonly id: number;
  readonly name: string;
  readonly color: string;
}

export interface Artifact {
  readonly digest: string;
  readonly size: number;
  readonly type: "IMAGE" | "CHART" | "CWL" | "UNKNOWN";
  readonly media_type: string;
  readonly manifest_media_type: string;
  readonly artifact_type: string;
  readonly push_time: string;
  readonly pull_time: string | null;
  readonly pushed_by: string;
  readonly tags: readonly Tag[];
  readonly labels?: readonly Label[];
  readonly references: readonly { readonly child_digest: string }[];
  readonly annotations: Readonly<Record<string, string>> | null;
  readonly subject: string | null;
}

/** A registry of others. */
export interface OtherRegistry {
  readonly id: number;
  readonly name: string;
  readonly url: string;
  readonly credential?: { readonly access_key: string };
  readonly status: "healthy" | "unhealthy";
  readonly status_text: string | null;
  readonly rate_remaining: string | null;
  readonly paused_until: string | null;
}

export interface ReplicationPolicy {
  readonly id: number;
  readonly name: string;
  readonly src_registry: { readonly id: number } | null;
  readonly dest_registry: { readonly id: number } | null;
  readonly dest_namespace: string;
  readonly filters: readonly { readonly type: "name" | "tag"; readonly value: string }[];
  readonly trigger: { readonly trigger_settings: { readonly cron: string } };
}

export interface ReplicationRun {
  readonly id: number;
  readonly status: "InProgress" | "Succeed" | "Failed" | "Stopped";
  readonly status_text: string;
  readonly total: number;
  readonly succeed: number;
  readonly failed: number;
  readonly bytes: number;
  readonly start_time: string;
  readonly end_time: string | null;
}

export interface Accessory {
  readonly digest: string;
  readonly size: number;
  readonly type: string;
  readonly artifact_type: string | null;
  readonly annotations: Readonly<Record<string, string>> | null;
}

export interface Descriptor {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
  readonly platform?: { readonly os?: string; readonly architecture?: string; readonly variant?: string };
  readonly annotations?: Readonly<Record<string, string>>;
}

export interface Manifest {
  readonly config?: Descriptor;
  readonly layers?: readonly Descriptor[];
  readonly manifests?: readonly Descriptor[];
}

export interface ImageConfig {
  readonly architecture?: string;
  readonly os?: string;
  readonly created?: string;
  readonly config?: {
    readonly Entrypoint?: readonly string[];
    readonly Cmd?: readonly string[];
    readonly User?: string;
  };
  readonly history?: readonly HistoryEntry[];
}

export interface HistoryEntry {
  readonly created?: string;
  readonly created_by?: string;
  readonly comment?: string;
  readonly empty_layer?: boolean;
}

export interface AuditRecord {
  readonly id: number;
  readonly username: string;
  readonly operation: string;
  readonly resource_type: string;
  readonly resource: string;
  readonly op_time: string;
}

/** Numbers of the roles, as the API has them. */
export const ROLES = [
  { value: "3", label: "Guest: pull" },
  { value: "2", label: "Developer: pull and push" },
  { value: "4", label: "Maintainer: also delete, and rules" },
  { value: "1", label: "Administrator: everything" },
] as const;

export function rightsOf({ current_user_role_ids: ids = [] }: Project) {
  const isAdmin = ids.includes(1);
  const canMaintain = isAdmin || ids.includes(4);
  return { isAdmin, canMaintain, canPush: canMaintain || ids.includes(2) };
}
