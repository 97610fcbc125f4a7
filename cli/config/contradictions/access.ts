import type { Variables } from "@swath/manifest";
import { hasIdentity, isEmbedded, type ContradictionRule } from "./rule.ts";

const protections = {
  REQUIRE_DUMMY_SERVICE_PROTECTION: "REQUIRE_DUMMY_SERVICE",
  REQUIRE_ADES_PROTECTION: "REQUIRE_ADES",
  REQUIRE_RESOURCE_CATALOGUE_PROTECTION: "REQUIRE_RESOURCE_CATALOGUE",
  REQUIRE_DATA_ACCESS_PROTECTION: "REQUIRE_DATA_ACCESS",
  REGISTRATION_API_PROTECTION: "REQUIRE_REGISTRATION_API",
  REQUIRE_WORKSPACE_API_PROTECTION: "REQUIRE_WORKSPACE_API",
} as const satisfies Partial<Record<keyof Variables, keyof Variables>>;

const protectionNames = Object.keys(protections) as readonly (keyof typeof protections)[];

/** What falls back to IDENTITY_SERVICE_DEFAULT_SECRET. */
const sharers = [
  ["IDENTITY_SERVICE_ADMIN_PASSWORD", "the administrator's password"],
  ["IDENTITY_POSTGRES_PASSWORD", "the database's password"],
  ["IDENTITY_GATEKEEPER_CLIENT_SECRET", "the secret of every identity client"],
] as const satisfies readonly (readonly [keyof Variables, string])[];

/** Who may come in, and how. */
export const accessRules: readonly ContradictionRule[] = [
  {
    subject: "OPEN_INGRESS",
    check: (input) =>
      !input.variables.OPEN_INGRESS && !hasIdentity(input)
        ? "is false and there is no identity service: hosts of services that need protection are neither open nor protected, so they are not offered"
        : undefined,
  },
  ...protectionNames.map((name): ContradictionRule => ({
    subject: name,
    impossible: true,
    check: (input) =>
      input.variables[name] && input.isExplicit(name) && input.variables[protections[name]] && !hasIdentity(input)
        ? "is true, but there is no identity service to protect anything with; deploy one, name one in IDENTITY_ISSUER_URL, or set it to false"
        : undefined,
  })),
  ...protectionNames.map((name): ContradictionRule => ({
    subject: name,
    check: ({ config, variables: v, isExplicit }) =>
      !v[name] || !isExplicit(name)
        ? undefined
        : !v[protections[name]]
          ? `is true, but ${protections[name]} is false: there is nothing to protect`
          : config.variant === "A" && v.OPEN_INGRESS
            ? "is true, but OPEN_INGRESS is true as well: the -open host lets everyone around the protection"
            : undefined,
  })),
  {
    subject: "OPEN_INGRESS",
    check: ({ config, variables: v }) =>
      v.OPEN_INGRESS && !config.onLoopback
        ? "is true and the ingress is reachable from other machines: everybody there may run processes and read data without logging in"
        : undefined,
  },
  {
    subject: "OPEN_INGRESS",
    check: ({ config, variables: v }) =>
      v.OPEN_INGRESS && config.onLoopback
        ? "is true: there is no protection. Every user and program of this machine acts as the administrator without logging in; " +
          "only what workspaces keep private in the catalogue stays theirs. Set it to false where others use this machine"
        : undefined,
  },
  {
    subject: "PROCESSING_HOST_TOOLS",
    impossible: true,
    check: ({ config, variables: v }) =>
      v.REQUIRE_ADES && v.PROCESSING_HOST_TOOLS === "open" && !config.onLoopback && !v.PROCESSING_HOST_TOOLS_EXPOSED
        ? "is open and the ingress is reachable from other machines: whoever may deploy packages can do whatever the processing service may; " +
          "set isolated, or set PROCESSING_HOST_TOOLS_EXPOSED=true as well"
        : undefined,
  },
  {
    subject: "USE_TLS",
    check: ({ config, variables: v }) =>
      !v.USE_TLS && !config.onLoopback
        ? "is false and the ingress is reachable from other machines: passwords and tokens cross the network unencrypted"
        : undefined,
  },
  {
    subject: "TLS_CLUSTER_ISSUER",
    check: ({ variables: v, isExplicit }) =>
      !v.USE_TLS && isExplicit("TLS_CLUSTER_ISSUER") ? "has no effect while USE_TLS is false; it is notls" : undefined,
  },
  {
    subject: "TLS_CLUSTER_ISSUER",
    check: (input) =>
      !isEmbedded(input) &&
      input.variables.TLS_CLUSTER_ISSUER.startsWith("letsencrypt-") &&
      !input.variables.REQUIRE_ACME_ISSUERS
        ? `is ${input.variables.TLS_CLUSTER_ISSUER}, but REQUIRE_ACME_ISSUERS is false: the cluster must have that issuer already`
        : undefined,
  },
  {
    subject: "IDENTITY_SERVICE_DEFAULT_SECRET",
    check: ({ variables: v, isExplicit }) => {
      if (!isExplicit("IDENTITY_SERVICE_DEFAULT_SECRET") || !v.REQUIRE_IDENTITY_SERVICE) {
        return undefined;
      }
      const sharing = sharers.filter(([name]) => !isExplicit(name)).map(([name, whose]) => `${whose} (${name})`);
      const users = v.IDENTITY_SERVICE_TEST_USERS ? ["the passwords of eric, bob and alice"] : [];
      const all = [...sharing, ...users];
      return sharing.length === 0
        ? undefined
        : `is also ${all.join(", ")}: who learns one has all of them; leave it out, or set the others too`;
    },
  },
  {
    subject: "IDENTITY_REALM",
    check: ({ variables: v }) =>
      v.IDENTITY_REALM !== "master"
        ? `is ${v.IDENTITY_REALM}, which the deployment does not create: it must exist already`
        : undefined,
  },
  ...(
    [
      "IDENTITY_SERVICE_DEFAULT_SECRET",
      "IDENTITY_SERVICE_ADMIN_PASSWORD",
      "LOGIN_SERVICE_ADMIN_PASSWORD",
      "OBJSTORE_ROOT_PASSWORD",
      "REGISTRY_ADMIN_PASSWORD",
    ] as const
  ).map((name): ContradictionRule => ({
    subject: name,
    check: ({ config, variables, isExplicit }) => {
      const value = variables[name];
      return !config.onLoopback && isExplicit(name) && value.kind === "given" && value.value === "changeme"
        ? "is the password everybody knows, and the ingress is reachable from other machines"
        : undefined;
    },
  })),
];
