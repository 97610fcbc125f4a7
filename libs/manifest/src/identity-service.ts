import type { DeployContext, Variant } from "./component.ts";
import { realmPath } from "./realm-paths.ts";
import type { ProtectedResource } from "./routes.ts";
import type { PlatformSettings } from "./settings.ts";
import type { EnvValue, PlatformSecret } from "./values.ts";

type Location = Pick<DeployContext, "settings" | "publicUrl">;
type Deployed = Location & Pick<DeployContext, "isEnabled">;

/** First label of the identity service's host: variant B knows it as the login service. */
export function identityHostLabel({ variant }: Pick<PlatformSettings, "variant">): "identity" | "auth" {
  return variant === "B" ? "auth" : "identity";
}

/** Public address of the deployed identity service. */
export function identityUrl({ settings, publicUrl }: Location): string {
  return publicUrl(identityHostLabel(settings));
}

/** `iss` of the tokens of the deployed identity service. */
export function identityIssuer(context: Location): string {
  const { variant, variables } = context.settings;
  return issuerAt(variant, identityUrl(context), variables.IDENTITY_REALM);
}

/** `iss` of the tokens of a realm at an identity service of the variant. Clients of variant B discover it at the root of its host. */
export function issuerAt(variant: Variant, url: string, realm: string): string {
  return variant === "B" ? url : `${url}${realmPath(realm)}`;
}

/** What a service needs to verify tokens of the deployed identity service. */
export function identityIssuerEnv(context: Location): Record<string, EnvValue> {
  return {
    IDENTITY_ISSUER: identityIssuer(context),
    IDENTITY_INTERNAL_URL: { peer: "identity" },
    ...(context.settings.variant === "B" && { ACCEPT_ID_TOKENS: "true" }),
  };
}

/** Whose access tokens a service accepts: an existing issuer's, the deployed identity service's, or nobody's. */
export function acceptedTokensEnv(context: Deployed): Record<string, EnvValue> {
  const { IDENTITY_ISSUER_URL: issuer, IDENTITY_ACCEPTED_AUDIENCES: audiences } = context.settings.variables;
  const caller = { ...administratorEnv(context), ACCEPTED_AUDIENCES: audiences };
  if (issuer !== undefined) {
    return { IDENTITY_ISSUER: issuer, ...caller };
  }
  return context.isEnabled("identity") ? { ...identityIssuerEnv(context), ...caller } : {};
}

/**
 * How a service tells administrators from others: by their role. A name counts only where the deployment makes the user of that name, and
 * so with the deployed identity service; anybody may be called that at another issuer.
 */
export function administratorEnv({
  settings: { variables },
}: Pick<DeployContext, "settings">): Record<string, EnvValue> {
  const { IDENTITY_ROLES_CLAIM: claim } = variables;
  return variables.IDENTITY_ISSUER_URL === undefined
    ? { IDENTITY_ADMIN_USER: variables.IDENTITY_SERVICE_ADMIN_USER }
    : { IDENTITY_ADMIN_ROLE: variables.IDENTITY_ADMIN_ROLE, ...(claim !== undefined && { ROLES_CLAIM: claim }) };
}

/** Whom a protected resource is for when it is for administrators: the same people as `administratorEnv` means. */
export function administratorAudience({
  variables,
}: Pick<PlatformSettings, "variables">): Required<Pick<ProtectedResource, "users" | "roles">> {
  return variables.IDENTITY_ISSUER_URL === undefined
    ? { users: [variables.IDENTITY_SERVICE_ADMIN_USER], roles: [DEPLOYED_ADMIN_ROLE] }
    : { users: [], roles: [variables.IDENTITY_ADMIN_ROLE] };
}

/** Realm role that the deployed identity service gives to its administrator. */
const DEPLOYED_ADMIN_ROLE = "admin";

/** Password of the administrator of the deployed identity service. */
export function identityAdminPassword({
  variant,
  variables,
}: Pick<PlatformSettings, "variant" | "variables">): PlatformSecret {
  return variant === "B" ? variables.LOGIN_SERVICE_ADMIN_PASSWORD : variables.IDENTITY_SERVICE_ADMIN_PASSWORD;
}
