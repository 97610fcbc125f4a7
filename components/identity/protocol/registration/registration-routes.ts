import { readBearerToken } from "@swath/auth";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";

import { findActor } from "../../admin/authorize.ts";
import { AdminError } from "../../admin/errors.ts";
import { runChange } from "../../admin/request.ts";
import type { IdentityContext } from "../../context.ts";
import { publishChange } from "../../store/changes.ts";
import { deleteClient, findClient } from "../../store/clients.ts";
import { OAuthError } from "../oauth-error.ts";
import { findRealmOr404 } from "../realm-scope.ts";
import {
  type Registrant,
  type RegistrationRules,
  changeRegistration,
  describeRegistration,
  isManagementToken,
  isRegistered,
  registerClient,
} from "./client-registrations.ts";
import { createRegistrationLimit } from "./registration-limit.ts";
import { readRegistration } from "./registration-request.ts";

/** Where clients are registered below a realm's address, by the name that the known provider has for it. */
export const REGISTRATION_PATH = "clients-registrations/openid-connect";

type Params = { Params: { realm?: string; client: string } };

interface RegistrationAddress extends RegistrationRules {
  /** Pattern of the route; the realm is its parameter `realm` unless it is given here. */
  readonly url: string;
  readonly realm?: string;
}

/**
 * Dynamic client registration (RFC 7591) and its management (RFC 7592). A client that an operator registers, with an access token, is
 * one of the platform's. Anybody else's acts only for people who agree to it, and never for itself: a stranger without an account
 * must not get a token.
 */
export function addRegistrationRoutes(
  app: FastifyInstance,
  context: IdentityContext,
  rules: RegistrationAddress,
): void {
  const { url } = rules;
  const limit = createRegistrationLimit();
  const hide = { schema: { hide: true } };
  const openRealm = async (request: FastifyRequest) => {
    const realm = rules.realm ?? (request.params as { realm: string }).realm;
    return { handle: await findRealmOr404(context, realm), address: context.publicUrl + url.replace(":realm", realm) };
  };
  const open = async (request: FastifyRequest<Params>) => {
    const { handle, address } = await openRealm(request);
    const { client: id } = request.params;
    const client = id.length > 255 ? undefined : await findClient(context.pool, handle.realm.id, id);
    const shown = readBearerToken(request.headers.authorization) ?? "";
    if (client === undefined || !isManagementToken(handle, client, shown) || !isRegistered(client)) {
      throw new OAuthError(401, "invalid_token", "The registration access token is not that of this client", {
        "www-authenticate": `Bearer realm="${handle.realm.name}", error="invalid_token"`,
      });
    }
    return { handle, client, address };
  };
  app.post(url, hide, async (request, reply) => {
    const { handle, address } = await openRealm(request);
    const registrant = await findRegistrant(context, rules, handle.realm.name, request);
    const requested = readRegistration(request.body);
    if (registrant === undefined) {
      limit(request.ip);
    }
    const { client, isNew } = await registerClient(context, handle, rules, requested, registrant);
    return send(reply, isNew ? 201 : 200, describeRegistration(handle, client, address));
  });
  app.get<Params>(`${url}/:client`, hide, async (request, reply) => {
    const { handle, client, address } = await open(request);
    return send(reply, 200, describeRegistration(handle, client, address));
  });
  app.put<Params>(`${url}/:client`, hide, async (request, reply) => {
    const { handle, client, address } = await open(request);
    const requested = readRegistration(request.body);
    // §2.2: it says which client it means, and what it was told of its secret is not to be changed by it.
    const { client_id: named, client_secret: secret } = request.body as Readonly<Record<string, unknown>>;
    if (named !== client.clientId || (secret !== undefined && secret !== client.secret)) {
      throw new OAuthError(400, "invalid_client_metadata", "client_id and client_secret must be those of the client");
    }
    const changed = await changeRegistration(context, handle, rules, client, requested);
    return send(reply, 200, describeRegistration(handle, changed, address));
  });
  app.delete<Params>(`${url}/:client`, hide, async (request, reply) => {
    const { handle, client } = await open(request);
    await runChange(context, async (db) => {
      await deleteClient(db, client.id);
      await publishChange(db, { kind: "client", realm: handle.realm.name, clientId: client.clientId });
    });
    return reply.code(204).header("cache-control", "no-store").send();
  });
}

function send(reply: FastifyReply, status: number, body: object): FastifyReply {
  return reply.code(status).headers({ "cache-control": "no-store", pragma: "no-cache" }).send(body);
}

/** The operator who registers; `undefined` for somebody without a token. @throws {OAuthError} */
async function findRegistrant(
  context: IdentityContext,
  { who }: RegistrationRules,
  realm: string,
  request: FastifyRequest,
): Promise<Registrant | undefined> {
  if (request.headers.authorization === undefined) {
    if (who === "operators") {
      throw new OAuthError(401, "invalid_token", "Only operators register clients here: send an access token", {
        "www-authenticate": `Bearer realm="${realm}"`,
      });
    }
    return undefined;
  }
  try {
    const actor = await findActor(context, realm, request);
    if (actor.may("manage-clients")) {
      return { id: actor.user.id, name: actor.user.username, clientId: actor.clientId, ip: request.ip };
    }
  } catch (error) {
    throw error instanceof AdminError ? new OAuthError(401, "invalid_token", error.message) : error;
  }
  throw new OAuthError(403, "access_denied", "Registering a client for the platform takes the role manage-clients");
}
