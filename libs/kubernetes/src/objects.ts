/** What may stand in a Kubernetes object. Properties that are undefined are left out of the YAML. */
export type JsonValue =
  | string
  | number
  | boolean
  | undefined
  | readonly JsonValue[]
  | { readonly [key: string]: JsonValue };

export interface Metadata {
  readonly name: string;
  /** Left out for objects of the whole cluster. */
  readonly namespace?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** Any object of the API. Fields beside these differ by kind: spec, data, rules … */
export interface KubernetesObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: Metadata;
  readonly [field: string]: unknown;
}

export interface EnvVar {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?:
    | { readonly secretKeyRef: { readonly name: string; readonly key: string; readonly optional?: boolean } }
    | { readonly configMapKeyRef: { readonly name: string; readonly key: string } };
}

export interface VolumeMount {
  readonly name: string;
  readonly mountPath: string;
}

export type PodVolume =
  | { readonly name: string; readonly emptyDir: { readonly sizeLimit?: string } }
  | { readonly name: string; readonly persistentVolumeClaim: { readonly claimName: string } };

export interface Container {
  readonly name: string;
  readonly image: string;
  readonly imagePullPolicy?: "IfNotPresent" | "Always" | "Never";
  readonly command?: readonly string[];
  readonly args?: readonly string[];
  readonly env?: readonly EnvVar[];
  readonly ports?: readonly { readonly name: string; readonly containerPort: number }[];
  readonly volumeMounts?: readonly VolumeMount[];
  readonly readinessProbe?: JsonValue;
  readonly livenessProbe?: JsonValue;
  readonly startupProbe?: JsonValue;
  readonly lifecycle?: JsonValue;
  readonly resources?: JsonValue;
  readonly securityContext?: JsonValue;
}

export interface PodSpec {
  readonly containers: readonly Container[];
  readonly volumes?: readonly PodVolume[];
  readonly serviceAccountName?: string;
  readonly automountServiceAccountToken: boolean;
  /** Off: variables of every service of the namespace would reach the programs' settings. */
  readonly enableServiceLinks: boolean;
  readonly restartPolicy?: "Always" | "OnFailure";
  readonly terminationGracePeriodSeconds: number;
  readonly securityContext: JsonValue;
}

export interface PodTemplate {
  readonly metadata: Omit<Metadata, "name" | "namespace">;
  readonly spec: PodSpec;
}
