import { workspacePrefix } from "@swath/manifest";
import type { Plan } from "../../platform/plan.ts";

/** A user that the protection script protects paths for. */
export interface ProtectedUser {
  readonly id: string;
  readonly name: string;
}

/** A path of a service that is one user's. */
export interface ProtectedPath {
  /** First label of the host, and the client that owns its resources. */
  readonly service: string;
  readonly path: string;
  readonly user: ProtectedUser;
}

const PATHS: ReadonlyMap<string, (user: string) => string> = new Map(
  Object.entries<(user: string) => string>({
    "dummy-service": (user) => `/${user}space`,
    ades: (user) => `/${user}`,
    "workspace-api": (user) => `/workspaces/${workspacePrefix({ variant: "B" })}-${user}`,
  }),
);

/** Services whose paths the protection script protects, of those that the deployment has protected. */
export function listProtectedServices({ routes }: Pick<Plan, "routes">): readonly string[] {
  return [...PATHS.keys()].filter((service) =>
    routes.some((route) => route.service === service && route.protects !== undefined),
  );
}

/** The paths of the two test users. */
export function listProtectedPaths(
  plan: Pick<Plan, "routes">,
  users: readonly ProtectedUser[],
): readonly ProtectedPath[] {
  return listProtectedServices(plan).flatMap((service) =>
    users.map((user) => ({ service, path: PATHS.get(service)?.(user.name) ?? "/", user })),
  );
}

/** The services that decide about each record themselves, so that no path of theirs is anybody's. */
export function listSelfDeciding({ routes }: Pick<Plan, "routes">): readonly string[] {
  return ["resource-catalogue", "data-access"].filter((service) =>
    routes.some((route) => route.service === service && route.protects !== undefined),
  );
}
