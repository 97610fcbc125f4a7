import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";

import type { IdentityContext } from "../context.ts";
import { toEngineRequest } from "../oidc/engine-request.ts";
import { findProvider } from "../oidc/provider.ts";
import type { RealmHandle } from "../realms/realm-cache.ts";
import { addBrowserChecks } from "./browser-checks.ts";
import { addCors } from "./cors.ts";
import { handleDeviceAuthorization } from "./device-authorization.ts";
import { describeProvider, describeUma } from "./discovery.ts";
import { handleIntrospection } from "./introspection.ts";
import { handleLogout } from "./logout.ts";
import { readForm } from "./form.ts";
import { handlePushedRequest, resolveAuthorizationParameters } from "./pushed-authorization.ts";
import { findRealmOr404, sendOAuthError } from "./realm-scope.ts";
import { REGISTRATION_PATH, addRegistrationRoutes } from "./registration/registration-routes.ts";
import { handleRevocation } from "./revocation.ts";
import { handleToken } from "./token-endpoint.ts";
import { handleUserinfo } from "./userinfo.ts";

type Params = { Params: { realm: string } };
type ServiceResponse = (handle: RealmHandle, request: FastifyRequest<Params>, reply: FastifyReply) => unknown;

/** Everything below `/realms/{realm}` that speaks OAuth 2.0 and OpenID Connect. */
export function addProtocolRoutes(app: FastifyInstance, context: IdentityContext): void {
  const endpoint = (name: string) => `/realms/:realm/protocol/openid-connect/${name}`;
  const within = (response: ServiceResponse) => async (request: FastifyRequest<Params>, reply: FastifyReply) =>
    response(await findRealmOr404(context, request.params.realm), request, reply);
  const options = { schema: { hide: true } };
  const describe = (handle: RealmHandle) => ({
    ...describeProvider(handle),
    ...(context.registration !== undefined && { registration_endpoint: `${handle.address}/${REGISTRATION_PATH}` }),
  });

  app.register(async (scope) => {
    scope.setErrorHandler(sendOAuthError);
    scope.register(async (open) => {
      addCors(open, context);
      open.get<Params>(
        "/realms/:realm",
        options,
        within(({ realm, address, keys }) => ({
          realm: realm.name,
          public_key: keys.publicJwks.keys[0],
          "token-service": `${address}/protocol/openid-connect`,
          "account-service": `${address}/account`,
          "tokens-not-before": 0,
        })),
      );
      open.get<Params>("/realms/:realm/.well-known/openid-configuration", options, within(describe));
      open.get<Params>("/realms/:realm/.well-known/uma2-configuration", options, within(describeUma));
      // RFC 8414 §3.1: with a path in the issuer, the well-known part comes first.
      open.get<Params>("/.well-known/oauth-authorization-server/realms/:realm", options, within(describe));
      open.get<Params>(
        endpoint("certs"),
        options,
        within(({ keys }) => keys.publicJwks),
      );
      open.post<Params>(
        endpoint("token"),
        options,
        within((handle, request, reply) => handleToken(context, handle, request, reply)),
      );
      open.post<Params>(
        endpoint("ext/par/request"),
        options,
        within((handle, request, reply) => handlePushedRequest(context, handle, request, reply)),
      );
      open.post<Params>(
        endpoint("auth/device"),
        options,
        within((handle, request, reply) => handleDeviceAuthorization(context, handle, request, reply)),
      );
      open.post<Params>(
        endpoint("token/introspect"),
        options,
        within((handle, request) => handleIntrospection(context, handle, request)),
      );
      open.post<Params>(
        endpoint("revoke"),
        options,
        within((handle, request, reply) => handleRevocation(context, handle, request, reply)),
      );
      open.route<Params>({
        method: ["GET", "POST"],
        url: endpoint("userinfo"),
        ...options,
        handler: within((handle, request, reply) => handleUserinfo(context, handle, request, reply)),
      });
      for (const url of [...["token", "userinfo", "revoke", "certs"].map(endpoint), "/realms/:realm/account"]) {
        open.options<Params>(url, options, (_request, reply) => reply.code(204).send());
      }
    });
    scope.route<Params>({
      method: ["GET", "POST"],
      url: endpoint("logout"),
      ...options,
      handler: within((handle, request, reply) => handleLogout({ context, handle, request, reply })),
    });
    const toEngine = async (handle: RealmHandle, request: FastifyRequest<Params>, reply: FastifyReply) => {
      const provider = findProvider(context, handle);
      const raw = toEngineRequest(context.publicUrl, request);
      reply.hijack();
      await provider.callback()(raw, reply.raw);
    };
    scope.get<Params>(endpoint("auth/:uid"), options, within(toEngine));
    // Both methods are one (OpenID Connect Core §3.1.2.1): the form of a POST is read here, and the engine sees a query.
    scope.route<Params>({
      method: ["GET", "POST"],
      url: endpoint("auth"),
      ...options,
      handler: within(async (handle, request, reply) => {
        const isPost = request.method === "POST";
        const form = isPost ? readForm(request) : undefined;
        const requested =
          form === undefined ? (request.query as Record<string, string>) : Object.fromEntries(form.entries());
        const parameters = await resolveAuthorizationParameters(context, handle, requested);
        if (isPost || parameters !== requested) {
          request.raw.method = "GET";
          request.raw.url = `${request.url.split("?", 1)[0] ?? ""}?${new URLSearchParams(parameters).toString()}`;
          delete request.raw.headers["content-type"];
          delete request.raw.headers["content-length"];
        }
        return toEngine(handle, request, reply);
      }),
    });
    addBrowserChecks(scope);
    if (context.registration !== undefined) {
      addRegistrationRoutes(scope, context, {
        url: `/realms/:realm/${REGISTRATION_PATH}`,
        who: context.registration,
        refusedToStrangers: ["client_credentials", "password"],
        mappers: [],
      });
    }
  });
}
