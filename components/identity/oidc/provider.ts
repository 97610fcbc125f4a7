import { PAGE_SECURITY } from "@swath/pages";
import Provider, { type AdapterPayload, type Configuration, type KoaContextWithOIDC } from "oidc-provider";

import type { IdentityContext } from "../context.ts";
import type { RealmHandle } from "../realms/realm-cache.ts";
import type { Client } from "../store/clients.ts";
import { createOidcAdapter } from "../store/oidc-adapter.ts";
import { findUser } from "../store/users.ts";
import { renderErrorPage } from "../pages/error-page.ts";
import { isRedirectAllowed } from "./redirect-uris.ts";

const providers = new WeakMap<RealmHandle, Provider>();

/**
 * The protocol engine of a realm: it answers the authorization endpoint (PKCE, prompts, browser sessions, interactions) and
 * makes codes. Tokens are issued by our own endpoint, which finds the codes in the same store.
 */
export function findProvider(context: IdentityContext, handle: RealmHandle): Provider {
  let provider = providers.get(handle);
  if (provider === undefined) {
    provider = createProvider(context, handle);
    providers.set(handle, provider);
  }
  return provider;
}

export const authorizationPath = (realm: string): string => `/realms/${realm}/protocol/openid-connect/auth`;
export const interactionPath = (realm: string, uid: string): string =>
  `/realms/${realm}/login-actions/authenticate/${uid}`;

/** Redirect URIs may have wildcards here, which the engine refuses to register: it is given this, and asks us. */
const STAND_IN = "https://redirect.invalid/";

function createProvider(context: IdentityContext, handle: RealmHandle): Provider {
  const { pool, publicUrl, domain, logger } = context;
  const { realm, issuer, keys } = handle;
  const { settings } = realm;
  const find = async (clientId: string): Promise<AdapterPayload | undefined> => {
    const client = await handle.findClient(clientId);
    return client?.settings.enabled === true && client.settings.standardFlowEnabled && !client.settings.bearerOnly
      ? toMetadata(client)
      : undefined;
  };
  const cookie = { httpOnly: true, sameSite: "lax" as const, signed: true };
  const configuration: Configuration = {
    adapter: createOidcAdapter(pool, realm.id, find),
    jwks: keys.privateJwks as NonNullable<Configuration["jwks"]>,
    findAccount: async (_context, sub) => {
      const user = await findUser(pool, realm.id, sub);
      return user?.enabled === true ? { accountId: user.id, claims: async () => ({ sub: user.id }) } : undefined;
    },
    responseTypes: ["code"],
    scopes: [...new Set(["openid", "offline_access", ...handle.scopes])],
    pkce: { required: (_context, client) => client.clientAuthMethod === "none" },
    features: {
      devInteractions: { enabled: false },
      rpInitiatedLogout: { enabled: false },
      userinfo: { enabled: false },
    },
    // The key that a code is bound to (RFC 9449 §10): the engine keeps it with the code, and our token endpoint compares.
    extraParams: ["kc_locale", "kc_idp_hint", "dpop_jkt"],
    extraClientMetadata: { properties: ["consent_required"] },
    routes: {
      authorization: authorizationPath(realm.name),
      token: `/realms/${realm.name}/engine/token`,
      jwks: `/realms/${realm.name}/engine/jwks`,
    },
    cookies: {
      keys: [realm.secret],
      names: {
        session: `swath_login_${realm.name}`,
        interaction: `swath_interaction_${realm.name}`,
        resume: `swath_resume_${realm.name}`,
      },
      long: cookie,
      short: cookie,
    },
    interactions: { url: (_context, interaction) => interactionPath(realm.name, interaction.uid) },
    loadExistingGrant: (koa) => loadGrant(koa, handle.scopes),
    ttl: {
      AuthorizationCode: settings.accessCodeLifespan,
      Interaction: settings.accessCodeLifespanLogin,
      Session: settings.ssoSessionMaxLifespan,
      Grant: settings.ssoSessionMaxLifespan,
    },
    renderError: (koa, out, error) => {
      if (koa.status >= 500) {
        logger.error({ err: error }, "the protocol engine failed");
      }
      koa.type = "html";
      koa.set(SECURITY_HEADERS);
      koa.body = renderErrorPage({
        title: "You cannot be logged in this way",
        message: out.error_description ?? out.error,
      });
    },
  };
  const provider = new Provider(issuer, configuration);
  // The headers are set from PUBLIC_URL before the engine sees them.
  provider.proxy = true;
  provider.on("server_error", (_koa, error) => logger.error({ err: error }, "the protocol engine failed"));
  Object.defineProperty(provider.Client.prototype, "redirectUriAllowed", {
    value(this: { readonly clientId: string }, uri: string) {
      const rules = redirects.get(this);
      return rules !== undefined && isRedirectAllowed(uri, { ...rules, publicUrl, domain });
    },
  });
  const redirects = new WeakMap<object, { rootUrl: string; redirectUris: readonly string[] }>();
  const findClientOfEngine = provider.Client.find.bind(provider.Client);
  provider.Client.find = async (clientId) => {
    const found = await findClientOfEngine(clientId);
    const client = found && (await handle.findClient(clientId));
    if (found !== undefined && client !== undefined) {
      redirects.set(found, client.settings);
    }
    return found;
  };
  return provider;
}

export const SECURITY_HEADERS: Readonly<Record<string, string>> = { ...PAGE_SECURITY, "cache-control": "no-store" };

function toMetadata({ clientId, secret, settings }: Client): AdapterPayload {
  return {
    client_id: clientId,
    ...(settings.publicClient ? {} : { client_secret: secret ?? "none" }),
    client_name: settings.name || clientId,
    redirect_uris: [STAND_IN],
    response_types: ["code"],
    grant_types: ["authorization_code", "refresh_token"],
    token_endpoint_auth_method: settings.publicClient ? "none" : "client_secret_basic",
    consent_required: settings.consentRequired,
  };
}

/** Clients of the deployment need no consent; the others keep what their user once agreed to. */
async function loadGrant(koa: KoaContextWithOIDC, scopes: readonly string[]) {
  const { client, session, provider, result } = koa.oidc;
  if (client === undefined || session?.accountId === undefined) {
    return undefined;
  }
  const known = result?.consent?.grantId ?? session.grantIdFor(client.clientId);
  const grant = known === undefined ? undefined : await provider.Grant.find(known);
  if (grant !== undefined || client["consent_required"] === true) {
    return grant;
  }
  const granted = new provider.Grant({ clientId: client.clientId, accountId: session.accountId });
  granted.addOIDCScope(["openid", "offline_access", ...scopes].join(" "));
  await granted.save();
  return granted;
}
