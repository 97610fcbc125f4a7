import {
  type Component,
  type DeployContext,
  type EnvValue,
  type IdentityClient,
  type Route,
  identityIssuerEnv,
} from "@swath/manifest";

/** A protected route and the client that owns its resources. */
interface Protected {
  readonly route: Route;
  readonly client: IdentityClient;
}

export const manifest: Component = {
  name: "gatekeeper",
  title: "Gatekeeper",
  namespace: "um",
  // Which routes are protected is known when every component has declared; without any nothing is deployed.
  databaseSchema: "gatekeeper",
  enabled: ({ variables }) =>
    variables.REQUIRE_IDENTITY_SERVICE ||
    variables.REQUIRE_LOGIN_SERVICE ||
    variables.IDENTITY_ISSUER_URL !== undefined ||
    variables.REQUIRE_DUMMY_SERVICE_PROTECTION ||
    variables.REQUIRE_ADES_PROTECTION ||
    variables.REQUIRE_RESOURCE_CATALOGUE_PROTECTION ||
    variables.REQUIRE_DATA_ACCESS_PROTECTION ||
    variables.REGISTRATION_API_PROTECTION ||
    variables.REQUIRE_WORKSPACE_API_PROTECTION,
  declare: ({ settings }) => ({
    routes: listEnforced(settings).flatMap((service) =>
      enforcementLabels(service).map((label) => ({ service: label, workload: "gatekeeper" })),
    ),
  }),
  deploy: (context) => {
    const hosts = findProtected(context);
    return { workloads: hosts.length === 0 ? [] : [createWorkload(context, hosts)] };
  },
};

/** First labels of the enforcement point's hosts, as clients of variant B know them: release 1.3 has resources at the second. */
const enforcementLabels = (service: string): readonly string[] => [`${service}-pep`, `${service}-pepapi`];

/** Services that have an enforcement point of their own: those of variant B that are protected. */
function listEnforced({ variant, variables }: DeployContext["settings"]): readonly string[] {
  const isOn = {
    "dummy-service": variables.REQUIRE_DUMMY_SERVICE && variables.REQUIRE_DUMMY_SERVICE_PROTECTION,
    ades: variables.REQUIRE_ADES && variables.REQUIRE_ADES_PROTECTION,
    "resource-catalogue": variables.REQUIRE_RESOURCE_CATALOGUE && variables.REQUIRE_RESOURCE_CATALOGUE_PROTECTION,
    "data-access": variables.REQUIRE_DATA_ACCESS && variables.REQUIRE_DATA_ACCESS_PROTECTION,
    "registration-api":
      variables.REQUIRE_RESOURCE_CATALOGUE &&
      variables.REQUIRE_REGISTRATION_API &&
      variables.REGISTRATION_API_PROTECTION,
    "workspace-api": variables.REQUIRE_WORKSPACE_API && variables.REQUIRE_WORKSPACE_API_PROTECTION,
  };
  return variant === "B" && variables.REQUIRE_LOGIN_SERVICE
    ? Object.entries(isOn).flatMap(([service, on]) => (on ? [service] : []))
    : [];
}

function findProtected({ declared, settings }: DeployContext): readonly Protected[] {
  return declared.routes.flatMap((route) => {
    if (route.protection?.required !== true) {
      return [];
    }
    const { clientId } = route.protection;
    const client = declared.identityClients.find((candidate) => candidate.clientId === clientId) ?? {
      clientId,
      name: clientId,
      secret: settings.variables.IDENTITY_GATEKEEPER_CLIENT_SECRET,
    };
    return [{ route, client }];
  });
}

function createWorkload(context: DeployContext, hosts: readonly Protected[]) {
  const { settings, isEnabled } = context;
  const { variables, domain } = settings;
  return {
    name: "gatekeeper",
    namespace: "um",
    component: "gatekeeper",
    kind: "service" as const,
    strategy: "rolling" as const,
    env: {
      GATEKEEPER_HOSTS: JSON.stringify(Object.fromEntries(hosts.map((host) => describeHost(context, host)))),
      ...Object.fromEntries(hosts.flatMap(({ route, client }) => referencesOf(route, client))),
      PLATFORM_DOMAIN: domain,
      ENCRYPTION_KEY: variables.IDENTITY_GATEKEEPER_ENCRYPTION_KEY,
      ENCRYPTION_KEY_ALSO: { also: variables.IDENTITY_GATEKEEPER_ENCRYPTION_KEY },
      IDENTITY_REALM: variables.IDENTITY_REALM,
      ACCEPTED_AUDIENCES: variables.IDENTITY_ACCEPTED_AUDIENCES,
      PAGE_ORIGINS: context.declared.routes
        .filter(({ holdsUserContent }) => holdsUserContent !== true)
        .map(({ service }) => new URL(context.publicUrl(service)).origin)
        .join(","),
      UMA: String(variables.IDENTITY_GATEKEEPER_UMA),
      ...(settings.variant === "B" && { CHALLENGE_REALM: `${context.publicUrl("portal")}/oidc/authenticate/` }),
      ...cookiesOf(context),
      ...issuerOf(context),
    },
    ports: [{ name: "http", number: 3000 }],
    ...(isEnabled("identity") && variables.IDENTITY_ISSUER_URL === undefined && { needs: ["identity"] }),
    resources: { requests: { cpu: "50m", memory: "96Mi" }, limits: { memory: "512Mi" } },
  };
}

/** The portal's logins, where the operator gave their cookies or their client other names. */
function cookiesOf({ settings: { portalValues } }: DeployContext): Readonly<Record<string, EnvValue>> {
  const { access_token_name: access, refresh_token_name: refresh, client_id: client } = portalValues?.configMap ?? {};
  return {
    ...(access !== undefined && { ACCESS_COOKIE: access }),
    ...(refresh !== undefined && { REFRESH_COOKIE: refresh }),
    ...(client !== undefined && { PORTAL_CLIENT_ID: client }),
  };
}

function issuerOf(context: DeployContext): Readonly<Record<string, EnvValue>> {
  const {
    settings: { variables },
    isEnabled,
  } = context;
  if (variables.IDENTITY_ISSUER_URL !== undefined) {
    return {
      IDENTITY_ISSUER: variables.IDENTITY_ISSUER_URL,
      ...(variables.IDENTITY_ROLES_CLAIM !== undefined && { ROLES_CLAIM: variables.IDENTITY_ROLES_CLAIM }),
      // It tells one replica of a logout.
      ...(isEnabled("postgres") && { DATABASE_URL: { database: "url" } }),
    };
  }
  return isEnabled("identity") ? identityIssuerEnv(context) : {};
}

function describeHost(
  { host, publicUrl, settings: { variables, variant } }: DeployContext,
  { route, client }: Protected,
): readonly [string, object] {
  return [
    host(route.service),
    {
      url: publicUrl(route.service),
      upstream: variableOf("UPSTREAM", route.service),
      clientId: client.clientId,
      secret: variableOf("CLIENT_SECRET", client.clientId),
      ...(route.protection?.openPaths && { openPaths: route.protection.openPaths }),
      ...(route.wildcard && { wildcard: true }),
      ...(route.perWorkspace && { perWorkspace: true }),
      ...(variant === "B" && { enforcementHosts: enforcementLabels(route.service).map(host) }),
      // The platform's own identity service holds the rules itself, and they change there.
      ...(variables.IDENTITY_ISSUER_URL !== undefined && { resources: client.resources ?? [] }),
    },
  ];
}

function referencesOf({ service, workload, port }: Route, { clientId, secret }: IdentityClient) {
  const references: (readonly [string, EnvValue])[] = [
    [variableOf("UPSTREAM", service), { peer: workload, ...(port !== undefined && { port }) }],
  ];
  if (secret !== undefined) {
    references.push([variableOf("CLIENT_SECRET", clientId), secret]);
  }
  return references;
}

function variableOf(prefix: string, name: string): string {
  return `${prefix}_${name.toUpperCase().replaceAll(/[^A-Z0-9]/g, "_")}`;
}
