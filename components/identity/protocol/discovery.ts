import { DPOP_ALGORITHMS } from "@swath/auth";

import type { RealmHandle } from "../realms/realm-cache.ts";
import { UMA_GRANT } from "../uma/uma-grant.ts";
import { KEY_PAIR_ALGORITHMS, SECRET_ALGORITHMS } from "./client-assertion.ts";
import { GRANT_TYPES } from "./token-endpoint.ts";

const CONFIDENTIAL = ["client_secret_basic", "client_secret_post", "client_secret_jwt", "private_key_jwt"];
const AUTHENTICATION = [...CONFIDENTIAL, "none"];
const ASSERTION_ALGORITHMS = [...KEY_PAIR_ALGORITHMS, ...SECRET_ALGORITHMS];

/** The discovery document (OpenID Connect Discovery §3, RFC 8414 §2). */
export function describeProvider({ issuer, address, realm, scopes }: RealmHandle): object {
  const endpoint = (name: string) => `${address}/protocol/openid-connect/${name}`;
  return {
    issuer,
    authorization_endpoint: endpoint("auth"),
    token_endpoint: endpoint("token"),
    device_authorization_endpoint: endpoint("auth/device"),
    introspection_endpoint: endpoint("token/introspect"),
    userinfo_endpoint: endpoint("userinfo"),
    end_session_endpoint: endpoint("logout"),
    revocation_endpoint: endpoint("revoke"),
    jwks_uri: endpoint("certs"),
    grant_types_supported: GRANT_TYPES,
    response_types_supported: ["code"],
    response_modes_supported: ["query", "fragment", "form_post"],
    subject_types_supported: ["public"],
    id_token_signing_alg_values_supported: [realm.settings.defaultSignatureAlgorithm],
    scopes_supported: ["openid", ...scopes],
    claims_supported: [
      "sub",
      "iss",
      "aud",
      "exp",
      "iat",
      "auth_time",
      "nonce",
      "azp",
      "sid",
      "scope",
      "preferred_username",
      "name",
      "given_name",
      "family_name",
      "email",
      "email_verified",
      "groups",
      "realm_access",
    ],
    claim_types_supported: ["normal"],
    claims_parameter_supported: false,
    request_parameter_supported: false,
    request_uri_parameter_supported: false,
    token_endpoint_auth_methods_supported: AUTHENTICATION,
    token_endpoint_auth_signing_alg_values_supported: ASSERTION_ALGORITHMS,
    pushed_authorization_request_endpoint: endpoint("ext/par/request"),
    require_pushed_authorization_requests: false,
    dpop_signing_alg_values_supported: DPOP_ALGORITHMS,
    introspection_endpoint_auth_methods_supported: CONFIDENTIAL,
    revocation_endpoint_auth_methods_supported: AUTHENTICATION,
    code_challenge_methods_supported: ["S256"],
    authorization_response_iss_parameter_supported: true,
    frontchannel_logout_supported: true,
    frontchannel_logout_session_supported: true,
    backchannel_logout_supported: true,
    backchannel_logout_session_supported: true,
  };
}

/** The discovery document of UMA 2.0 (Grant §2). */
export function describeUma(handle: RealmHandle): object {
  const { issuer, address } = handle;
  return {
    issuer,
    token_endpoint: `${address}/protocol/openid-connect/token`,
    introspection_endpoint: `${address}/protocol/openid-connect/token/introspect`,
    jwks_uri: `${address}/protocol/openid-connect/certs`,
    grant_types_supported: [UMA_GRANT, "client_credentials"],
    resource_registration_endpoint: `${address}/authz/protection/resource_set`,
    permission_endpoint: `${address}/authz/protection/permission`,
    policy_endpoint: `${address}/authz/protection/uma-policy`,
    token_endpoint_auth_methods_supported: AUTHENTICATION,
  };
}
