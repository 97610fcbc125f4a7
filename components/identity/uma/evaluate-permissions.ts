import type { Identity, Resource } from "@swath/auth";

import type { IdentityContext } from "../context.ts";
import { OAuthError } from "../protocol/oauth-error.ts";
import type { RealmHandle } from "../realms/realm-cache.ts";
import type { Client } from "../store/clients.ts";

/** What is granted of one resource, as RPTs say it (UMA 2.0 Federated Authorization §5.1.1). */
export interface GrantedPermission {
  readonly rsid: string;
  readonly rsname: string;
  readonly scopes?: readonly string[];
}

interface Evaluation {
  /** The resource server. */
  readonly audience: Client;
  readonly identity: Identity;
  /** `resource#scope,scope`: a resource by id, name or path; everything when left out. */
  readonly permissions: readonly string[];
  /** Paths are meant instead of ids and names. */
  readonly byUri: boolean;
}

/**
 * Which of the permissions somebody has.
 * @throws {OAuthError} 400 invalid_resource, invalid_scope for what does not exist
 */
export async function evaluatePermissions(
  { policies }: IdentityContext,
  { realm }: RealmHandle,
  { audience, identity, permissions, byUri }: Evaluation,
): Promise<readonly GrantedPermission[]> {
  const { set, evaluator } = await policies.load(realm.id, audience);
  const requested: { resource: Resource; scopes: readonly string[] | undefined }[] = [];
  for (const permission of permissions) {
    const [name = "", scopeText] = permission.split("#", 2);
    const scopes = scopeText === undefined || scopeText === "" ? undefined : scopeText.split(",");
    const known = new Set(set.resources.flatMap((resource) => resource.scopes));
    const unknown = scopes?.find((scope) => !known.has(scope));
    if (unknown !== undefined) {
      throw new OAuthError(400, "invalid_scope", `One of the given scopes [${unknown}] is invalid`);
    }
    const found = byUri
      ? evaluator.findResources(name)
      : name === ""
        ? set.resources.filter((resource) => scopes?.some((scope) => resource.scopes.includes(scope)))
        : set.resources.filter((resource) => resource.id === name || resource.name === name);
    if (found.length === 0) {
      throw new OAuthError(400, "invalid_resource", `Resource with id [${name}] does not exist.`);
    }
    requested.push(...found.map((resource) => ({ resource, scopes })));
  }
  if (permissions.length === 0) {
    requested.push(...set.resources.map((resource) => ({ resource, scopes: undefined })));
  }
  const context = { identity, now: new Date() };
  return requested.flatMap(({ resource, scopes }): GrantedPermission[] => {
    const decision = evaluator.evaluateResource(resource, context, scopes);
    return decision.granted
      ? [
          {
            rsid: resource.id,
            rsname: resource.name,
            ...(decision.scopes.length > 0 && { scopes: decision.scopes }),
          },
        ]
      : [];
  });
}
