import type {
  Component,
  ComponentDeclarations,
  ConfigMap,
  DeployContext,
  IdentityClient,
  PlatformSettings,
  PodNetwork,
  Route,
  Secret,
  Volume,
  Workload,
} from "@swath/manifest";

import { checkPlan } from "./check-plan.ts";
import { type PlannedDatabase, addDatabaseNeed, planDatabase } from "./plan-database.ts";
import { planNamespaceBinder } from "./plan-namespaces.ts";
import { type PlannedRoute, domainOf, planRoutes } from "./plan-routes.ts";

/** Everything that a deployment consists of, before anyone knows where it runs. The same settings give the same plan. */
export interface Plan {
  readonly settings: PlatformSettings;
  /** Components that have something to run, in deployment order. */
  readonly components: readonly PlannedComponent[];
  readonly workloads: readonly Workload[];
  readonly routes: readonly PlannedRoute[];
  readonly volumes: readonly Volume[];
  readonly secrets: readonly Secret[];
  readonly configMaps: readonly ConfigMap[];
  readonly podNetworks: readonly PodNetwork[];
  readonly identityClients: readonly IdentityClient[];
  readonly database: PlannedDatabase;
}

export interface PlannedComponent {
  readonly name: string;
  readonly title: string;
  readonly namespace: string;
}

/**
 * Asks every enabled component what it deploys and puts it together. Pure.
 * @throws {Error} when manifests contradict each other (a bug of a manifest, never of the operator)
 */
export function createPlan(settings: PlatformSettings, catalogue: readonly Component[]): Plan {
  const enabled = catalogue.filter(
    ({ variants, enabled: isOn }) => (variants?.includes(settings.variant) ?? true) && isOn(settings),
  );
  // Which services hold user content, and so where they are, is known once all have been asked.
  const first = createContext(settings, enabled, []);
  const requested = enabled.flatMap((component) => component.declare?.(first).routes ?? []);
  const context = createContext(settings, enabled, requested);
  const declarations = enabled.map((component) => component.declare?.(context) ?? {});
  const database = planDatabase(settings, enabled);
  const declared = { ...collect(declarations), databaseRoles: database.roles ?? [] };
  const resources = enabled.map((component) => component.deploy({ ...context, declared }));
  const deployed = resources.flatMap((part) => part.workloads).map((workload) => addDatabaseNeed(workload, database));
  const workloads = [...deployed, ...planNamespaceBinder(settings, deployed)];

  const plan: Plan = {
    settings,
    components: enabled
      .filter((_, index) => (resources[index]?.workloads.length ?? 0) > 0)
      .map(({ name, title, namespace }) => ({
        name,
        title,
        namespace: typeof namespace === "string" ? namespace : namespace[settings.variant],
      })),
    workloads,
    routes: planRoutes(settings, declared.routes, workloads),
    volumes: resources.flatMap((part) => part.volumes ?? []),
    secrets: resources.flatMap((part) => part.secrets ?? []),
    configMaps: resources.flatMap((part) => part.configMaps ?? []),
    podNetworks: resources.flatMap((part) => part.podNetworks ?? []),
    identityClients: declared.identityClients,
    database,
  };
  checkPlan(plan);
  return plan;
}

function createContext(
  settings: PlatformSettings,
  enabled: readonly Component[],
  routes: readonly Route[],
): DeployContext {
  const { scheme, publicPort } = settings;
  const port = publicPort === (scheme === "https" ? 443 : 80) ? "" : `:${publicPort}`;
  const content = new Set(routes.flatMap((route) => (route.holdsUserContent === true ? [route.service] : [])));
  const host = (service: string) => `${service}.${domainOf(settings, content.has(service))}`;
  return {
    settings,
    isEnabled: (name) => enabled.some((component) => component.name === name),
    host,
    publicUrl: (service) => `${scheme}://${host(service)}${port}`,
    declared: { routes: [], identityClients: [], databaseRoles: [] },
  };
}

function collect(declarations: readonly ComponentDeclarations[]): Omit<DeployContext["declared"], "databaseRoles"> {
  return {
    routes: declarations.flatMap(({ routes }) => routes ?? []),
    identityClients: declarations.flatMap(({ identityClients }) => identityClients ?? []).map(giveOwnSecret),
  };
}

/** A generated secret is one client's alone: a service that leaks its secret does not give away those of the others. */
function giveOwnSecret(client: IdentityClient): IdentityClient {
  const { clientId, secret } = client;
  return secret?.kind === "generated"
    ? { ...client, secret: { ...secret, name: `${secret.name}.${clientId}` } }
    : client;
}
