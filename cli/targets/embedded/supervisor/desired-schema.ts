import { Type } from "typebox";
import { Compile, type Validator } from "typebox/compile";

import { DesiredStateError } from "./plan-variables.ts";
import type { DesiredState } from "./supervisor.ts";

/** Reads a desired state. @throws {DesiredStateError} for anything that the schema of plans does not have */
export function parseDesiredState(value: unknown): DesiredState {
  validator ??= Compile(DesiredSchema);
  if (!validator.Check(value)) {
    const [first] = validator.Errors(value);
    const place = first === undefined || first.instancePath === "" ? "the body" : first.instancePath;
    throw new DesiredStateError(`The desired state is refused: ${place} ${first?.message ?? "is no plan"}`);
  }
  return value as unknown as DesiredState;
}

let validator: Validator | undefined;

const closed = { additionalProperties: false } as const;
const Label = Type.String({ pattern: "^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$" });
const Text = Type.String();

const PlatformSecret = Type.Union([
  Type.Object({ kind: Type.Literal("given"), value: Text, also: Type.Optional(Text) }, closed),
  Type.Object(
    { kind: Type.Literal("generated"), name: Text, bytes: Type.Integer({ minimum: 16, maximum: 256 }) },
    closed,
  ),
]);
const ConfigMapEntry = Type.Object({ configMap: Label, key: Text }, closed);
const EnvValueSchema = Type.Union([
  Text,
  PlatformSecret,
  ConfigMapEntry,
  Type.Object({ secret: Label, key: Text }, closed),
  Type.Object({ also: PlatformSecret }, closed),
  Type.Object({ eitherOf: PlatformSecret, which: Type.Enum(["first", "second"]) }, closed),
  Type.Object({ peer: Label, port: Type.Optional(Label) }, closed),
  Type.Object({ database: Type.Literal("url") }, closed),
  Type.Object({ platform: Type.Literal("status") }, closed),
  Type.Object({ volume: Label }, closed),
  Type.Object({ onKubernetes: Type.Union([Text, ConfigMapEntry]) }, closed),
  Type.Object({ authority: Type.Literal("file") }, closed),
]);

/** Of fields for Kubernetes alone only the names are checked: nothing on this machine reads them. */
const OnKubernetes = Type.Optional(Type.Unknown());

const WorkloadSchema = Type.Object(
  {
    name: Label,
    namespace: Label,
    component: Label,
    kind: Type.Enum(["service", "task"]),
    // One file of the component's folder: no way up or out.
    entry: Type.Optional(Type.String({ pattern: "^[a-z][a-z0-9-]*(/[a-z][a-z0-9-]*){0,2}$" })),
    env: Type.Record(Type.String({ pattern: "^[A-Z][A-Z0-9_]{0,99}$" }), EnvValueSchema, closed),
    changedWhileRunning: Type.Optional(Type.Array(Text)),
    ports: Type.Optional(Type.Array(Type.Object({ name: Label, number: Type.Integer() }, closed))),
    mounts: Type.Optional(Type.Array(Type.Object({ volume: Label, path: Text }, closed))),
    needs: Type.Optional(Type.Array(Label)),
    startsWithoutDatabase: Type.Optional(Type.Literal(true)),
    probe: Type.Optional(Type.Enum(["management", "postgres"])),
    strategy: Type.Optional(Type.Enum(["rolling", "recreate"])),
    stopSignal: Type.Optional(Type.Enum(["SIGTERM", "SIGINT"])),
    stopSeconds: Type.Optional(Type.Number({ minimum: 0, maximum: 3600 })),
    account: Type.Optional(Type.Enum(["service", "sandbox", "database"])),
    resources: Type.Unknown(),
    replicas: OnKubernetes,
    onEveryNode: OnKubernetes,
    image: OnKubernetes,
    keepImageOf: OnKubernetes,
    callsOutside: OnKubernetes,
    clusterRole: OnKubernetes,
    deploymentRules: OnKubernetes,
    secretsInNamespaces: OnKubernetes,
    ownNamespaces: OnKubernetes,
    bindsOwnNamespaces: OnKubernetes,
    calledByPods: OnKubernetes,
  },
  closed,
);

const SecretEntry = Type.Union([
  PlatformSecret,
  Type.Object({ kind: Type.Literal("joined"), parts: Type.Array(EnvValueSchema) }, closed),
]);

const DesiredSchema = Type.Object(
  {
    stopped: Type.Optional(Type.Boolean()),
    cluster: Type.Object(
      {
        name: Text,
        domain: Text,
        addresses: Type.Array(Text),
        httpPort: Type.Integer({ minimum: 1, maximum: 65_535 }),
        httpsPort: Type.Integer({ minimum: 1, maximum: 65_535 }),
        portsAreGiven: Type.Boolean(),
        createdAt: Text,
      },
      closed,
    ),
    plan: Type.Object(
      {
        settings: Type.Object({ domain: Text, scheme: Text, variables: Type.Object({}) }),
        components: Type.Array(Type.Object({ name: Label, title: Text, namespace: Label }, closed)),
        workloads: Type.Array(WorkloadSchema, { maxItems: 200 }),
        routes: Type.Array(
          Type.Object(
            {
              host: Type.String({ pattern: "^[a-z0-9.-]{1,253}$" }),
              wildcard: Type.Boolean(),
              perWorkspace: Type.Optional(Type.Boolean()),
              service: Label,
              workload: Label,
              namespace: Type.Union([Label, Type.Literal("")]),
              port: Label,
              protects: Type.Optional(Label),
              ingress: Type.Optional(Type.Unknown()),
            },
            closed,
          ),
        ),
        volumes: Type.Array(Type.Object({ name: Label, namespace: Label })),
        secrets: Type.Array(
          Type.Object({ name: Label, namespace: Label, entries: Type.Record(Text, SecretEntry) }, closed),
        ),
        configMaps: Type.Array(Type.Object({ name: Label, namespace: Label, data: Type.Record(Text, Text) }, closed)),
        podNetworks: Type.Array(Type.Unknown()),
        identityClients: Type.Array(Type.Object({ clientId: Text })),
        database: Type.Object({ kind: Type.Enum(["deployed", "external"]) }),
      },
      closed,
    ),
  },
  closed,
);
