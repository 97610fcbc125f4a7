import { combine } from "./combine.ts";
import { evaluatePolicy } from "./evaluate-policy.ts";
import { createUriIndex } from "./match-uri.ts";
import type { EvaluationContext, Permission, PolicySet, Resource } from "./types.ts";

/** What someone may do with one resource. */
export interface ResourceDecision {
  readonly granted: boolean;
  /** Granted scopes among those asked for, or among all of the resource. */
  readonly scopes: readonly string[];
}

/** Whether a path may be used, and why not. */
export type PathDecision =
  | { readonly granted: true; readonly resources: readonly Resource[] }
  | {
      readonly granted: false;
      readonly reason: "NO_RESOURCE" | "NO_PERMISSION";
      readonly resources: readonly Resource[];
    };

/** Decides on one policy set; made once for a set, asked for every request. */
export interface Evaluator {
  readonly policySet: PolicySet;
  /** The resources with the most specific pattern that matches a canonical path; several where they share that pattern. */
  readonly findResources: (path: string) => readonly Resource[];
  /**
   * Whether a request on a canonical path passes. Needed is the scope `view` where the resource has it, else all its
   * scopes. Of resources that share the pattern one grant is enough.
   */
  readonly decidePath: (path: string, context: EvaluationContext) => PathDecision;
  /** Whether a path's resources let everybody in, without a token. */
  readonly isOpenPath: (path: string) => boolean;
  /** Which of the scopes (all when left out) of a resource are granted. */
  readonly evaluateResource: (
    resource: Resource,
    context: EvaluationContext,
    scopes?: readonly string[],
  ) => ResourceDecision;
}

/**
 * Type of resources that the enforcement point of variant B registers. Their scopes are methods, `protected_get` …, or say that
 * nobody need log in (`open`, `public_access`) or everybody may (`Authenticated`).
 */
export const METHOD_RESOURCE_TYPE = "urn:swath:resource:methods";

const OPEN_SCOPES = ["open", "public_access"];
const AUTHENTICATED_SCOPE = "Authenticated";

/** The scope of a request on a resource whose scopes are methods. */
export const methodScope = (method: string): string => `protected_${method.toLowerCase()}`;

/** The scope that a permission to send a request to a resource has: its method, or `Authenticated` where that is all it was registered with. */
export function permissionScope({ scopes }: Resource, method: string): string {
  const scope = methodScope(method);
  return !scopes.includes(scope) && scopes.includes(AUTHENTICATED_SCOPE) ? AUTHENTICATED_SCOPE : scope;
}

/** The scope that stands for using a resource at all. */
export const VIEW_SCOPE = "view";

/** Prepares a policy set for decisions. */
export function createEvaluator(policySet: PolicySet): Evaluator {
  const policies = new Map(policySet.policies.map((policy) => [policy.id, policy]));
  const index = createUriIndex(
    policySet.resources.flatMap((resource) => resource.uris.map((uri) => [uri, resource] as const)),
  );
  const { byResource, byType, unbound } = indexPermissions(policySet.permissions);

  const permissionsOf = (resource: Resource): readonly Permission[] => [
    ...new Set([
      ...(byResource.get(resource.id) ?? []),
      ...(resource.type === undefined ? [] : (byType.get(resource.type) ?? [])),
      ...unbound,
    ]),
  ];

  const evaluateResource: Evaluator["evaluateResource"] = (resource, context, scopes = resource.scopes) => {
    const everything = { granted: true, scopes };
    if (policySet.enforcementMode === "DISABLED") {
      return everything;
    }
    if (resource.ownerManagedAccess === true && resource.owner === context.identity.userId) {
      return everything;
    }
    if (resource.type === METHOD_RESOURCE_TYPE && resource.scopes.some(isForEverybody)) {
      return everything;
    }
    const relevant = permissionsOf(resource).filter(
      ({ type, scopes: covered }) => type === "resource" || covered.some((scope) => scopes.includes(scope)),
    );
    const rules = relevant.filter(({ byOwner }) => byOwner !== true);
    if (rules.length === 0 && policySet.enforcementMode === "PERMISSIVE") {
      return everything;
    }
    const shares = resource.ownerManagedAccess === true ? relevant.filter(({ byOwner }) => byOwner === true) : [];
    const toVotes = (permissions: readonly Permission[]) =>
      permissions.map((permission) => ({
        permission,
        vote: combine(
          permission.decisionStrategy,
          permission.policies.map((id) => evaluatePolicy(id, policies, context) === true),
        ),
      }));
    const [ruled, shared] = [toVotes(rules), toVotes(shares)];
    const isGranted = (isAbout: (permission: Permission) => boolean): boolean => {
      const votesOf = (votes: typeof ruled) =>
        votes.filter(({ permission }) => isAbout(permission)).map(({ vote }) => vote);
      return combine(policySet.decisionStrategy, votesOf(ruled)) || combine("AFFIRMATIVE", votesOf(shared));
    };
    if (scopes.length === 0) {
      return { granted: isGranted(() => true), scopes: [] };
    }
    const granted = scopes.filter((scope) =>
      isGranted(({ type, scopes: covered }) => type === "resource" || covered.includes(scope)),
    );
    return { granted: granted.length > 0, scopes: granted };
  };

  const mayUse = (resource: Resource, context: EvaluationContext): boolean => {
    const needed = neededScopes(resource, context);
    if (!hasScopes(resource, needed)) {
      return false;
    }
    const { granted, scopes } = evaluateResource(resource, context, needed);
    return granted && scopes.length === needed.length;
  };

  return {
    policySet,
    findResources: index.find,
    evaluateResource,
    isOpenPath: (path) => {
      const resources = index.find(path);
      return resources.length > 0 && resources.every(isOpen);
    },
    decidePath: (path, context) => {
      const resources = index.find(path);
      if (resources.length === 0) {
        return policySet.enforcementMode === "ENFORCING"
          ? { granted: false, reason: "NO_RESOURCE", resources }
          : { granted: true, resources };
      }
      return resources.some((resource) => mayUse(resource, context))
        ? { granted: true, resources }
        : { granted: false, reason: "NO_PERMISSION", resources };
    },
  };
}

/** Whether scopes that are asked for are among those of a resource, or it was registered for all of them. */
export const hasScopes = ({ scopes }: Resource, needed: readonly string[]): boolean =>
  needed.every((scope) => scopes.includes(scope)) || scopes.some(isForEverybody);

const isForEverybody = (scope: string): boolean => OPEN_SCOPES.includes(scope) || scope === AUTHENTICATED_SCOPE;

const isOpen = ({ type, scopes }: Resource): boolean =>
  type === METHOD_RESOURCE_TYPE && scopes.some((scope) => OPEN_SCOPES.includes(scope));

function neededScopes({ type, scopes }: Resource, { method }: EvaluationContext): readonly string[] {
  if (type === METHOD_RESOURCE_TYPE && method !== undefined) {
    return [methodScope(method)];
  }
  return scopes.includes(VIEW_SCOPE) ? [VIEW_SCOPE] : scopes;
}

function indexPermissions(permissions: readonly Permission[]): {
  byResource: ReadonlyMap<string, readonly Permission[]>;
  byType: ReadonlyMap<string, readonly Permission[]>;
  unbound: readonly Permission[];
} {
  const byResource = new Map<string, Permission[]>();
  const byType = new Map<string, Permission[]>();
  const unbound: Permission[] = [];
  const add = (map: Map<string, Permission[]>, key: string, permission: Permission) => {
    const list = map.get(key) ?? [];
    list.push(permission);
    map.set(key, list);
  };
  for (const permission of permissions) {
    for (const resource of new Set(permission.resources)) {
      add(byResource, resource, permission);
    }
    if (permission.resourceType !== undefined) {
      add(byType, permission.resourceType, permission);
    } else if (permission.type === "scope" && permission.resources.length === 0) {
      unbound.push(permission);
    }
  }
  return { byResource, byType, unbound };
}
