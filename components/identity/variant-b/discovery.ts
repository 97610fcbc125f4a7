import type { LoginFace } from "../context.ts";
import { describeProvider, describeUma } from "../protocol/discovery.ts";
import type { RealmHandle } from "../realms/realm-cache.ts";
import { loginBase } from "./paths.ts";

/** Where SCIM 2.0 is, below the public address. */
export const SCIM_BASE = "/identity/restv1/scim/v2";

/** `/.well-known/openid-configuration` of the login service: the realm's document with the login service's addresses. */
export function describeLogin(handle: RealmHandle, face: LoginFace, publicUrl: string): object {
  const endpoint = (name: string) => `${publicUrl}${loginBase(face)}/${name}`;
  const { claims_supported: claims, ...known } = describeProvider(handle) as { claims_supported: readonly string[] };
  return {
    ...known,
    issuer: handle.issuer,
    authorization_endpoint: endpoint("authorize"),
    token_endpoint: endpoint("token"),
    userinfo_endpoint: endpoint("userinfo"),
    jwks_uri: endpoint("jwks"),
    end_session_endpoint: endpoint("end_session"),
    introspection_endpoint: endpoint("introspection"),
    revocation_endpoint: endpoint("revoke"),
    device_authorization_endpoint: endpoint("device_authorization"),
    pushed_authorization_request_endpoint: endpoint("par"),
    registration_endpoint: endpoint("register"),
    claims_supported: [...claims, "user_name", "isOperator"],
  };
}

/** `/.well-known/uma2-configuration` (UMA 2.0 Grant §2). */
export function describeLoginUma(handle: RealmHandle, face: LoginFace, publicUrl: string): object {
  const endpoint = (name: string) => `${publicUrl}${loginBase(face)}/${name}`;
  return {
    ...describeUma(handle),
    token_endpoint: endpoint("token"),
    authorization_endpoint: endpoint("authorize"),
    registration_endpoint: endpoint("register"),
    introspection_endpoint: endpoint("rpt/status"),
    jwks_uri: endpoint("jwks"),
    resource_registration_endpoint: endpoint("host/rsrc/resource_set"),
    permission_endpoint: endpoint("host/rsrc_pr"),
    uma_profiles_supported: [],
    claim_token_profiles_supported: ["http://openid.net/specs/openid-connect-core-1_0.html#IDToken"],
  };
}

/** `/.well-known/scim-configuration`: a list with one entry, as existing clients read it. */
export function describeScim(publicUrl: string): readonly object[] {
  const endpoint = (name: string) => `${publicUrl}${SCIM_BASE}/${name}`;
  return [
    {
      version: "2.0",
      authorization_supported: ["oauth2"],
      user_endpoint: endpoint("Users"),
      group_endpoint: endpoint("Groups"),
      bulk_endpoint: endpoint("Bulk"),
      service_provider_endpoint: endpoint("ServiceProviderConfig"),
      resource_types_endpoint: endpoint("ResourceTypes"),
      schemas_endpoint: endpoint("Schemas"),
    },
  ];
}
