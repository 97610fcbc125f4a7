import { type PlatformSecret, type Variables, identityAdminPassword } from "@swath/manifest";

import type { Plan } from "../platform/plan.ts";

/** How a secret is changed without a moment in which somebody's value is refused. */
export type Manner =
  /** Both values are accepted (or tried) while everybody turns to the new one. */
  | "both accepted"
  /** A second role of the database stands in while the first one's password changes. */
  | "second role"
  /** A list of keys, of which the first encrypts: the old one goes when nothing is encrypted by it any more. */
  | "keyring";

/** A secret of a deployment that can be changed while it runs. */
export interface Changeable {
  readonly secret: PlatformSecret;
  /** The variable by which the operator gives it, where there is one. */
  readonly variable?: keyof Variables;
}

/** What `swath credentials rotate` can be told to change. */
export interface Subject {
  readonly name: string;
  readonly meaning: string;
  readonly manner: Manner;
  /** Empty where the deployment has no such thing. */
  readonly find: (plan: Plan) => readonly Changeable[];
}

const has = (plan: Plan, component: string): boolean => plan.components.some(({ name }) => name === component);

const ofVariable = <K extends keyof Variables>(plan: Plan, variable: K): readonly Changeable[] => {
  const secret = plan.settings.variables[variable] as PlatformSecret | undefined;
  return secret === undefined ? [] : [{ secret, variable }];
};

/** Names of generated secrets that one service shows and another one knows. */
const SERVICE_SECRETS = [
  "workspace-api-internal",
  "registration-api-internal",
  "resource-catalogue-internal",
  "resource-catalogue-delegate",
  "resource-catalogue-feed",
  "registry-processing",
  "ades-step-files",
  "ades-step-files-key",
  "ades-results-key",
  "bucket-operator-api",
];

export const subjects: readonly Subject[] = [
  {
    name: "database",
    meaning: "passwords of the roles of the database: its owner's and each component's",
    manner: "second role",
    find: ({ database, settings }) => [
      ...(database.roles ?? []).map(({ password }) => ({ secret: password })),
      ...(database.kind === "external"
        ? []
        : [
            {
              secret: database.password,
              ...(settings.variant === "A" && { variable: "IDENTITY_POSTGRES_PASSWORD" as const }),
            },
          ]),
    ],
  },
  {
    name: "objstore",
    meaning: "secret key of the root user of the object storage",
    manner: "both accepted",
    find: (plan) => (has(plan, "objstore") ? ofVariable(plan, "OBJSTORE_ROOT_PASSWORD") : []),
  },
  {
    name: "objstore-encryption",
    meaning: "key of the object storage's encryption at rest; objects stay readable",
    manner: "keyring",
    find: (plan) => (has(plan, "objstore") ? ofVariable(plan, "OBJSTORE_ENCRYPTION_KEYS") : []),
  },
  {
    name: "identity-admin",
    meaning: "password of the administrator of the identity service",
    manner: "both accepted",
    find: (plan) =>
      has(plan, "identity")
        ? [
            {
              secret: identityAdminPassword(plan.settings),
              variable:
                plan.settings.variant === "B" ? "LOGIN_SERVICE_ADMIN_PASSWORD" : "IDENTITY_SERVICE_ADMIN_PASSWORD",
            },
          ]
        : [],
  },
  {
    name: "identity-clients",
    meaning: "secrets of the identity clients that the deployment declares",
    manner: "both accepted",
    find: (plan) => {
      const variable = "IDENTITY_GATEKEEPER_CLIENT_SECRET" as const;
      const secrets = plan.identityClients.flatMap(({ secret }) => secret ?? []);
      const provided = secrets.find(({ kind }) => kind === "given");
      return !has(plan, "identity")
        ? []
        : [
            ...secrets.filter(({ kind }) => kind === "generated").map((secret) => ({ secret, variable })),
            ...(provided === undefined ? [] : [{ secret: provided, variable }]),
          ];
    },
  },
  {
    name: "gatekeeper",
    meaning: "key that seals logins in browsers; a login that was not renewed meanwhile begins anew",
    manner: "both accepted",
    find: (plan) => (has(plan, "gatekeeper") ? ofVariable(plan, "IDENTITY_GATEKEEPER_ENCRYPTION_KEY") : []),
  },
  {
    name: "services",
    meaning: "secrets by which services of the deployment know each other",
    manner: "both accepted",
    find: ({ workloads }) => {
      const found = workloads
        .flatMap(({ env }) => Object.values(env))
        .filter((value) => typeof value === "object" && "kind" in value && value.kind === "generated");
      return SERVICE_SECRETS.flatMap((name) => {
        const secret = found.find((each) => each.name === name);
        return secret === undefined ? [] : [{ secret }];
      });
    },
  },
  {
    name: "registry",
    meaning: "password of the administrator of the image registry",
    manner: "both accepted",
    find: (plan) => (has(plan, "registry") ? ofVariable(plan, "REGISTRY_ADMIN_PASSWORD") : []),
  },
];
