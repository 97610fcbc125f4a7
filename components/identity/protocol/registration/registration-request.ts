import { isHostileText } from "@swath/service";
import { type JSONWebKeySet, createLocalJWKSet } from "jose";

import { UMA_GRANT } from "../../uma/uma-grant.ts";
import { BACK_CHANNEL_SESSION, BACK_CHANNEL_URL } from "../back-channel-logout.ts";
import { AUTH_METHOD, INLINE_KEYS, KEYS_ADDRESS, USES_KEYS_ADDRESS } from "../client-keys.ts";
import { DPOP_REQUIRED } from "../dpop.ts";
import { FRONT_CHANNEL_SESSION, FRONT_CHANNEL_URL } from "../front-channel-logout.ts";
import { OAuthError } from "../oauth-error.ts";

/** The fields of a registration (RFC 7591 §2) that count here. */
export interface RegistrationRequest {
  readonly name: string;
  readonly grantTypes: readonly string[];
  readonly redirectUris: readonly string[];
  readonly logoutUris: readonly string[];
  readonly scopes: readonly string[];
  readonly authMethod: string;
  /** Attributes of the client that say the rest: its keys, where it hears of logouts, whether its tokens are bound to a key. */
  readonly attributes: Readonly<Record<string, string>>;
  /** Whoever registers again with it gets the same client, where an operator registers. */
  readonly softwareId: string | undefined;
}

const GRANT_TYPES = ["authorization_code", "password", "refresh_token", "client_credentials", UMA_GRANT];
const AUTH_METHODS = ["client_secret_basic", "client_secret_post", "client_secret_jwt", "private_key_jwt", "none"];
/** Addresses that pages show to people (RFC 7591 §2, OpenID Connect Dynamic Client Registration 1.0 §2). */
const SHOWN_ADDRESSES = ["logo_uri", "client_uri", "policy_uri", "tos_uri", "initiate_login_uri"];
const MAX_URIS = 20;
const MAX_URI_LENGTH = 2048;
const MAX_NAME_LENGTH = 200;
const MAX_SCOPES = 50;
const MAX_KEYS_LENGTH = 16_384;

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
  const truth = (name: string): string | undefined => {
    const value = fields[name];
    if (value !== undefined && value !== null && typeof value !== "boolean") {
      throw invalid(`${name} must be true or false`);
    }
    return typeof value === "boolean" ? String(value) : undefined;
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
  // Existing scripts send one empty text for none.
  const addressesOf = (name: string) => (texts(name, MAX_URIS) ?? []).filter((uri) => uri !== "");
  const redirectUris = addressesOf("redirect_uris");
  const logoutUris = addressesOf("post_logout_redirect_uris");
  [...redirectUris, ...logoutUris].forEach(checkRedirectUri);
  const addresses = {
    [FRONT_CHANNEL_URL]: text("frontchannel_logout_uri", MAX_URI_LENGTH),
    [BACK_CHANNEL_URL]: text("backchannel_logout_uri", MAX_URI_LENGTH),
    [KEYS_ADDRESS]: text("jwks_uri", MAX_URI_LENGTH),
  };
  for (const [name, address] of Object.entries(addresses)) {
    checkAddress(name, address);
  }
  // Not kept, and refused all the same: whoever shows the answer would make a link of it.
  for (const name of SHOWN_ADDRESSES) {
    checkAddress(name, text(name, MAX_URI_LENGTH));
  }
  const front = addresses[FRONT_CHANNEL_URL];
  const origins = redirectUris.map((uri) => new URL(uri).origin);
  if (front !== undefined && !origins.includes(new URL(front).origin)) {
    // OpenID Connect Front-Channel Logout 1.0 §2
    throw invalid("frontchannel_logout_uri must be on the host of one of the redirect_uris");
  }
  const keys = readKeys(fields["jwks"]);
  if (keys !== undefined && addresses[KEYS_ADDRESS] !== undefined) {
    throw invalid("jwks and jwks_uri must not come together");
  }
  if (authMethod === "private_key_jwt" && keys === undefined && addresses[KEYS_ADDRESS] === undefined) {
    throw invalid("private_key_jwt takes the client's public keys, in jwks or at jwks_uri");
  }
  const attributes = {
    ...addresses,
    [USES_KEYS_ADDRESS]: addresses[KEYS_ADDRESS] === undefined ? undefined : "true",
    [INLINE_KEYS]: keys,
    [AUTH_METHOD]: authMethod,
    [FRONT_CHANNEL_SESSION]: truth("frontchannel_logout_session_required"),
    [BACK_CHANNEL_SESSION]: truth("backchannel_logout_session_required"),
    [DPOP_REQUIRED]: truth("dpop_bound_access_tokens"),
  };
  return {
    attributes: Object.fromEntries(
      Object.entries(attributes).filter((entry): entry is [string, string] => entry[1] !== undefined),
    ),
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

/** Where this service asks or leads browsers to; what may be asked is found out when it is. */
function checkAddress(name: string, address: string | undefined): void {
  if (address === undefined) {
    return;
  }
  const target = !/[\\\s]/.test(address) && URL.canParse(address) ? new URL(address) : undefined;
  if (target === undefined || !/^https?:$/.test(target.protocol) || target.hash !== "" || target.username !== "") {
    throw invalid(`the address for ${name} must be a whole http or https address without user or fragment`);
  }
}

/** Public keys (RFC 7517 §5), as a text; a private one is refused, since it is not private any more. */
function readKeys(value: unknown): string | undefined {
  if (value === undefined || value === null) {
    return undefined;
  }
  const text = JSON.stringify(value);
  const { keys } = Object(value) as { keys?: unknown };
  if (text.length > MAX_KEYS_LENGTH || !Array.isArray(keys) || keys.length === 0) {
    throw invalid(`jwks must be a set of at least one key, of at most ${MAX_KEYS_LENGTH} characters`);
  }
  if (keys.some((key) => typeof key !== "object" || key === null || "d" in key || "k" in key)) {
    throw invalid("jwks must hold public keys only");
  }
  try {
    createLocalJWKSet(value as JSONWebKeySet);
  } catch {
    throw invalid("jwks is not a set of keys");
  }
  return text;
}
