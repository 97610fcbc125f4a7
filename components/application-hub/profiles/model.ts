import { type Static, Type } from "typebox";

const Text = Type.String({ maxLength: 4000 });
const Name = Type.String({ minLength: 1, maxLength: 253 });
const Quantity = Type.Union([Type.Number({ minimum: 0 }), Type.String({ pattern: "^\\d+(\\.\\d+)?(m|[kKMGTP]i?)?$" })]);
const strict = { additionalProperties: false };
const optional = { ...strict };
/** Where the known file has null for what is not set. */
const Opt = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T) =>
  Type.Optional(Type.Union([schema, Type.Null()]));

const KubespawnerOverride = Type.Object(
  {
    cpu_limit: Opt(Quantity),
    cpu_guarantee: Opt(Quantity),
    mem_limit: Opt(Quantity),
    mem_guarantee: Opt(Quantity),
    image: Opt(Text),
    extra_resource_limits: Opt(Type.Record(Type.String(), Quantity)),
    extra_resource_guarantees: Opt(Type.Record(Type.String(), Quantity)),
    // What KubeSpawner knows besides, where images need it.
    cmd: Opt(Type.Array(Text, { maxItems: 100 })),
    args: Opt(Type.Array(Text, { maxItems: 100 })),
    port: Opt(Type.Integer({ minimum: 1, maximum: 65_535 })),
    environment: Opt(Type.Record(Type.String({ pattern: "^[A-Za-z_][A-Za-z0-9_]*$" }), Type.String())),
    working_dir: Opt(Text),
    image_pull_policy: Opt(Type.Union([Type.Literal("Always"), Type.Literal("IfNotPresent"), Type.Literal("Never")])),
    node_selector: Opt(Type.Record(Type.String(), Type.String())),
    tolerations: Opt(Type.Array(Type.Record(Type.String(), Type.Unknown()), { maxItems: 20 })),
    uid: Opt(Type.Integer({ minimum: 1 })),
    gid: Opt(Type.Integer({ minimum: 1 })),
    fs_gid: Opt(Type.Integer({ minimum: 1 })),
  },
  strict,
);

/** What runs where the platform is one machine; the known file knows images only. */
const Embedded = Type.Union([
  Type.Object(
    {
      kind: Type.Literal("program"),
      /** `{port}`, `{base}`, `{home}`, `{user}` are put in. */
      command: Type.Array(Type.String({ maxLength: 4000 }), { minItems: 1, maxItems: 100 }),
      /** What an operator types to have it. */
      install: Type.Optional(Type.String({ maxLength: 500 })),
      /** `hub`: below /user/<user>/, with JupyterHub's environment; `root`: at /. */
      base: Type.Optional(Type.Union([Type.Literal("hub"), Type.Literal("root")])),
      port: Type.Optional(Type.Integer({ minimum: 1024, maximum: 65_535 })),
      /** Ready as soon as it runs: it listens on nothing. */
      listens: Type.Optional(Type.Boolean()),
      /** Path that answers below 500 once it is ready. */
      ready_path: Type.Optional(Type.String({ maxLength: 500 })),
    },
    strict,
  ),
  Type.Object(
    {
      kind: Type.Literal("container"),
      port: Type.Optional(Type.Integer({ minimum: 1, maximum: 65_535 })),
      command: Type.Optional(Type.Array(Text, { maxItems: 100 })),
      base: Type.Optional(Type.Union([Type.Literal("hub"), Type.Literal("root")])),
      ready_path: Type.Optional(Type.String({ maxLength: 500 })),
    },
    strict,
  ),
  Type.Object({ kind: Type.Literal("browser"), site: Type.Literal("jupyterlite") }, strict),
  Type.Object(
    {
      kind: Type.Literal("browser"),
      site: Type.Literal("stac-browser"),
      /** Hosts besides the platform's whose catalogues may be read: `earth-search.aws.element84.com`. */
      hosts: Type.Optional(
        Type.Array(Type.String({ pattern: "^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?(:\\d{1,5})?$" }), { maxItems: 50 }),
      ),
    },
    strict,
  ),
]);

const Volume = Type.Object(
  {
    name: Name,
    claim_name: Name,
    size: Opt(Quantity),
    storage_class: Opt(Text),
    access_modes: Opt(Type.Array(Name)),
    volume_mount: Opt(Type.Object({ name: Name, mount_path: Text, sub_path: Opt(Text) }, strict)),
    persist: Opt(Type.Boolean()),
  },
  strict,
);

const ConfigMap = Type.Object(
  {
    name: Name,
    key: Opt(Name),
    mount_path: Opt(Text),
    default_mode: Opt(
      Type.Union([Type.String({ pattern: "^0?[0-7]{3,4}$" }), Type.Integer({ minimum: 0, maximum: 511 })]),
    ),
    readonly: Opt(Type.Boolean()),
    content: Opt(Type.String({ maxLength: 1_000_000 })),
    persist: Opt(Type.Boolean()),
  },
  strict,
);

const RoleBinding = Type.Object(
  {
    name: Name,
    subjects: Type.Array(Type.Object({ name: Name, kind: Name }, strict)),
    role: Type.Object(
      { name: Name, resources: Type.Array(Name), verbs: Type.Array(Name), api_groups: Opt(Type.Array(Type.String())) },
      strict,
    ),
    persist: Opt(Type.Boolean()),
  },
  strict,
);

const InitContainer = Type.Object({
  name: Name,
  image: Text,
  command: Opt(Type.Array(Text)),
  volume_mounts: Opt(Type.Array(Type.Object({ name: Name, mount_path: Text, sub_path: Opt(Text) }, optional))),
});

const Profile = Type.Object(
  {
    id: Name,
    groups: Type.Array(Name),
    definition: Type.Object(
      {
        display_name: Type.String({ minLength: 1, maxLength: 200 }),
        description: Opt(Text),
        slug: Type.String({ pattern: "^[a-z0-9]([a-z0-9_.-]{0,60}[a-z0-9])?$" }),
        default: Opt(Type.Boolean()),
        kubespawner_override: Opt(KubespawnerOverride),
        profile_options: Opt(
          Type.Record(
            Type.String({ maxLength: 60 }),
            Type.Object({
              display_name: Type.String({ maxLength: 200 }),
              choices: Type.Record(
                Type.String({ maxLength: 60 }),
                Type.Object({
                  display_name: Type.String({ maxLength: 200 }),
                  default: Opt(Type.Boolean()),
                  kubespawner_override: Opt(KubespawnerOverride),
                }),
              ),
            }),
          ),
        ),
      },
      strict,
    ),
    embedded: Opt(Embedded),
    egress: Opt(Type.Union([Type.Literal("none"), Type.Literal("platform"), Type.Literal("internet")])),
    max_age_seconds: Opt(Type.Integer({ minimum: 1 })),
    idle_seconds: Opt(Type.Integer({ minimum: 0 })),
    config_maps: Opt(Type.Array(ConfigMap)),
    volumes: Opt(Type.Array(Volume)),
    pod_env_vars: Opt(
      Type.Record(
        Type.String({ pattern: "^[A-Za-z_][A-Za-z0-9_]*$" }),
        Type.Union([
          Type.String(),
          Type.Number(),
          Type.Boolean(),
          Type.Object({ from_config_map: Type.Object({ name: Name, key: Name }, strict) }, strict),
        ]),
      ),
    ),
    default_url: Opt(Type.String({ maxLength: 1000 })),
    node_selector: Opt(Type.Record(Type.String(), Type.String())),
    role_bindings: Opt(Type.Array(RoleBinding)),
    image_pull_secrets: Opt(
      Type.Array(Type.Union([Name, Type.Object({ name: Name, persist: Opt(Type.Boolean()), data: Opt(Text) })])),
    ),
    init_containers: Opt(Type.Array(InitContainer)),
    manifests: Opt(
      Type.Array(
        Type.Object({
          name: Name,
          key: Opt(Name),
          content: Opt(Type.Array(Type.Record(Type.String(), Type.Unknown()))),
          persist: Opt(Type.Boolean()),
        }),
      ),
    ),
    env_from_config_maps: Opt(Type.Array(Name)),
    env_from_secrets: Opt(Type.Array(Name)),
    secret_mounts: Opt(Type.Array(Type.Object({ name: Name, mount_path: Text, sub_path: Opt(Text) }, strict))),
  },
  strict,
);

export const ProfileFile = Type.Object({ profiles: Type.Array(Profile, { maxItems: 200 }) }, strict);
export type Profile = Static<typeof Profile>;
export type Embedded = Static<typeof Embedded>;
