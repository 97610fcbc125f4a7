import { isHostileText } from "@swath/service";

import { UMA_GRANT } from "../../uma/uma-grant.ts";
import { OAuthError } from "../../protocol/oauth-error.ts";

/** The fields of a registration (RFC 7591 §2) that count here. */
export interface RegistrationRequest {
  readonly name: string;
  readonly grantTypes: readonly string[];
  readonly redirectUris: readonly string[];
  readonly logoutUris: readonly string[];
  readonly scopes: readonly string[];
  readonly authMethod: string;
  /** Whoever registers again with it gets the same client, where an operator registers. */
  readonly softwareId: string | undefined;
}

const GRANT_TYPES = ["authorization_code", "password", "refresh_token", "client_credentials", UMA_GRANT];
const AUTH_METHODS = ["client_secret_basic", "client_secret_post", "none"];
const MAX_URIS = 20;
const MAX_URI_LENGTH = 2048;
const MAX_NAME_LENGTH = 200;
const MAX_SCOPES = 50;

const invalid = (message: string) => new OAuthError(400, "invalid_client_metadata", message);

/** Reads the body of a registration; fields that do not count here are let through unread. @throws {OAuthError} */
export function readRegistration(body: unknown): RegistrationRequest {
  if (typeof body !== "object" || body === null || Array.isArray(body)) {
    throw invalid("the body must be a JSON object");
  }
  const fields = body as Readonly<Record<string, unknown>>;
  const text = (name: string, limit: number): string | undefined => {
    const value = fields[name];
    if (value === undefined || value === null) {
      return undefined;
    }
    if (typeof value !== "string" || value.length > limit || isHostileText(value)) {
      throw invalid(`${name} must be a text of at most ${limit} characters`);
    }
    return value;
  };
  const texts = (name: string, limit: number): readonly string[] | undefined => {
    const value = fields[name];
    if (value === undefined || value === null) {
      return undefined;
    }
    // Existing scripts send one where a list belongs.
    const list = typeof value === "string" ? value.split(/\s+/).filter((item) => item !== "") : value;
    if (!Array.isArray(list) || list.length > limit || list.some((item) => typeof item !== "string")) {
      throw invalid(`${name} must be a list of at most ${limit} texts`);
    }
    return list as readonly string[];
  };
  const oneOf = (name: string, allowed: readonly string[]) => (value: string) => {
    if (!allowed.includes(value)) {
      throw invalid(`${name} holds ${JSON.stringify(value)}; allowed: ${allowed.join(", ")}`);
    }
  };
  const grantTypes = texts("grant_types", GRANT_TYPES.length * 2) ?? ["authorization_code"];
  grantTypes.forEach(oneOf("grant_types", [...GRANT_TYPES, "implicit"]));
  const authMethod = text("token_endpoint_auth_method", 64) ?? "client_secret_basic";
  oneOf("token_endpoint_auth_method", AUTH_METHODS)(authMethod);
  const subjectType = text("subject_type", 32) ?? "public";
  oneOf("subject_type", ["public"])(subjectType);
  const redirectUris = texts("redirect_uris", MAX_URIS) ?? [];
  const logoutUris = texts("post_logout_redirect_uris", MAX_URIS) ?? [];
  [...redirectUris, ...logoutUris].forEach(checkRedirectUri);
  return {
    name: (text("client_name", MAX_NAME_LENGTH) ?? "").trim(),
    grantTypes,
    redirectUris,
    logoutUris,
    scopes: texts("scope", MAX_SCOPES) ?? texts("scopes", MAX_SCOPES) ?? [],
    authMethod,
    softwareId: text("software_id", 128),
  };
}

/** Addresses are compared whole, so nothing in one may stand for others. */
function checkRedirectUri(uri: string): void {
  const isBounded = uri.length <= MAX_URI_LENGTH && !isHostileText(uri) && !/[*\\\s]/.test(uri);
  const target = isBounded && URL.canParse(uri) ? new URL(uri) : undefined;
  if (target === undefined || !/^https?:$/.test(target.protocol) || target.hash !== "" || target.username !== "") {
    throw new OAuthError(
      400,
      "invalid_redirect_uri",
      `${JSON.stringify(uri.slice(0, 200))} is not allowed: give whole http or https addresses without *, user or fragment`,
    );
  }
}
