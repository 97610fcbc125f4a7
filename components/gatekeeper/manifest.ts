import type { Component, DeployContext, EnvValue, IdentityClient, Route } from "@swath/manifest";

/** A protected route and the client that owns its resources. */
interface Protected {
  readonly route: Route;
  readonly client: IdentityClient;
}

export const manifest: Component = {
  name: "gatekeeper",
  title: "Gatekeeper",
  namespace: "um",
  variants: ["A"],
  // Which routes are protected is known when every component has declared; without any nothing is deployed.
  enabled: ({ variables }) =>
    variables.REQUIRE_IDENTITY_SERVICE ||
    variables.IDENTITY_ISSUER_URL !== undefined ||
    variables.REQUIRE_DUMMY_SERVICE_PROTECTION ||
    variables.REQUIRE_ADES_PROTECTION ||
    variables.REQUIRE_RESOURCE_CATALOGUE_PROTECTION ||
    variables.REQUIRE_DATA_ACCESS_PROTECTION ||
    variables.REGISTRATION_API_PROTECTION ||
    variables.REQUIRE_WORKSPACE_API_PROTECTION,
  deploy: (context) => {
    const hosts = findProtected(context);
    return { workloads: hosts.length === 0 ? [] : [createWorkload(context, hosts)] };
  },
};

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
      IDENTITY_REALM: variables.IDENTITY_REALM,
      ACCEPTED_AUDIENCES: variables.IDENTITY_ACCEPTED_AUDIENCES,
      PAGE_ORIGINS: context.declared.routes
        .filter(({ holdsUserContent }) => holdsUserContent !== true)
        .map(({ service }) => new URL(context.publicUrl(service)).origin)
        .join(","),
      UMA: String(variables.IDENTITY_GATEKEEPER_UMA),
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

function issuerOf({
  settings: { variables },
  isEnabled,
  publicUrl,
}: DeployContext): Readonly<Record<string, EnvValue>> {
  if (variables.IDENTITY_ISSUER_URL !== undefined) {
    return { IDENTITY_ISSUER: variables.IDENTITY_ISSUER_URL };
  }
  return isEnabled("identity")
    ? {
        IDENTITY_ISSUER: `${publicUrl("identity")}/realms/${variables.IDENTITY_REALM}`,
        IDENTITY_INTERNAL_URL: { peer: "identity" },
      }
    : {};
}

function describeHost(
  { host, publicUrl, settings: { variables } }: DeployContext,
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
