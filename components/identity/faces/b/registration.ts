import { hash, createHmac, randomUUID, timingSafeEqual } from "node:crypto";

import { readBearerToken } from "@swath/auth";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";

import { findActor } from "../../admin/authorize.ts";
import { addClient } from "../../admin/client-records.ts";
import { AdminError } from "../../admin/errors.ts";
import { inChange } from "../../admin/request.ts";
import type { IdentityContext, LoginFace } from "../../context.ts";
import { OAuthError } from "../../protocol/oauth-error.ts";
import { findRealmOr404 } from "../../protocol/realm-scope.ts";
import type { RealmHandle } from "../../realms/realm-cache.ts";
import { announce } from "../../store/changes.ts";
import { insertMapper } from "../../store/client-scopes.ts";
import { type Client, deleteClient, findClient } from "../../store/clients.ts";
import type { Queryable } from "../../store/database.ts";
import { insertAdminEvent } from "../../store/events.ts";
import { UMA_GRANT } from "../../uma/uma-grant.ts";
import { LOGIN_CLIENT_MAPPERS } from "./client-mappers.ts";
import { loginBase } from "./paths.ts";
import { type RegistrationRequest, readRegistration } from "./registration-request.ts";

/** Attributes of clients that registered themselves. */
const BY_WHOM = "registered.by";
const SOFTWARE_ID = "software.id";
/** Clients that nobody vouches for, in all. */
const MAX_UNKNOWN_CLIENTS = 1000;
/** What only a client that an operator registered may do: act for itself. */
const OWN_GRANTS = ["client_credentials"];

type Params = { Params: { client: string } };

/**
 * Dynamic client registration (RFC 7591) and its management (RFC 7592). A client that an operator registers, with an access token, is
 * one of the platform's. Anybody else's acts only for people who agree to it, and never for itself: a stranger without an account
 * must not get a token.
 */
export function addRegistrationRoutes(app: FastifyInstance, context: IdentityContext, face: LoginFace): void {
  const url = `${loginBase(face)}/register`;
  const hide = { schema: { hide: true } };
  const open = async (request: FastifyRequest<Params>) => {
    const handle = await findRealmOr404(context, face.realm);
    const client = await findClient(context.pool, handle.realm.id, request.params.client);
    const shown = readBearerToken(request.headers.authorization) ?? "";
    const isRight = client !== undefined && isSame(shown, managementToken(handle, client));
    if (client === undefined || !isRight || client.settings.attributes[BY_WHOM] === undefined) {
      throw new OAuthError(401, "invalid_token", "The registration access token is not that of this client");
    }
    return { handle, client };
  };
  app.post(url, hide, async (request, reply) => {
    const handle = await findRealmOr404(context, face.realm);
    const registrant = await findRegistrant(context, face, request);
    const wanted = readRegistration(request.body);
    const { client, isNew } = await register(context, handle, wanted, registrant);
    return send(reply, isNew ? 201 : 200, describe(context, face, handle, client));
  });
  app.get<Params>(`${url}/:client`, hide, async (request, reply) => {
    const { handle, client } = await open(request);
    return send(reply, 200, describe(context, face, handle, client));
  });
  app.delete<Params>(`${url}/:client`, hide, async (request, reply) => {
    const { handle, client } = await open(request);
    await inChange(context, async (db) => {
      await deleteClient(db, client.id);
      await announce(db, { kind: "client", realm: handle.realm.name, clientId: client.clientId });
    });
    return reply.code(204).header("cache-control", "no-store").send();
  });
}

function send(reply: FastifyReply, status: number, body: object): FastifyReply {
  return reply.code(status).headers({ "cache-control": "no-store", pragma: "no-cache" }).send(body);
}

interface Registrant {
  readonly id: string;
  readonly name: string;
  readonly clientId: string;
  readonly ip: string;
}

/** The operator who registers; `undefined` for somebody without a token. @throws {OAuthError} */
async function findRegistrant(
  context: IdentityContext,
  face: LoginFace,
  request: FastifyRequest,
): Promise<Registrant | undefined> {
  if (request.headers.authorization === undefined) {
    if (face.registration === "operators") {
      throw new OAuthError(401, "invalid_token", "Only operators register clients here: send an access token", {
        "www-authenticate": `Bearer realm="${face.realm}"`,
      });
    }
    return undefined;
  }
  try {
    const actor = await findActor(context, face.realm, request);
    if (actor.may("manage-clients")) {
      return { id: actor.user.id, name: actor.user.username, clientId: actor.clientId, ip: request.ip };
    }
  } catch (error) {
    throw error instanceof AdminError ? new OAuthError(401, "invalid_token", error.message) : error;
  }
  throw new OAuthError(403, "access_denied", "Registering a client for the platform takes the role manage-clients");
}

async function register(
  context: IdentityContext,
  { realm }: RealmHandle,
  wanted: RegistrationRequest,
  registrant: Registrant | undefined,
): Promise<{ readonly client: Client; readonly isNew: boolean }> {
  return inChange(context, async (db) => {
    // One at a time, so that the count holds and a repeated registration finds the first one.
    await db.query("select pg_advisory_xact_lock(hashtext($1))", [`registration ${realm.id}`]);
    const known =
      registrant && wanted.softwareId !== undefined && (await findBySoftware(db, realm.id, wanted.softwareId));
    if (known) {
      return { client: known, isNew: false };
    }
    if (registrant === undefined && (await countUnknown(db, realm.id)) >= MAX_UNKNOWN_CLIENTS) {
      throw new OAuthError(
        503,
        "temporarily_unavailable",
        "Too many clients have registered; ask an operator to do it",
      );
    }
    const clientId = randomUUID();
    const may = (grant: string) =>
      wanted.grantTypes.includes(grant) && (registrant !== undefined || !OWN_GRANTS.includes(grant));
    const protects = registrant !== undefined && wanted.scopes.includes("uma_protection");
    const id = await addClient(db, realm, {
      clientId,
      settings: {
        name: wanted.name === "" ? clientId : wanted.name,
        description: registrant === undefined ? "Registered by itself" : `Registered by ${registrant.name}`,
        publicClient: wanted.authMethod === "none",
        standardFlowEnabled: may("authorization_code"),
        directAccessGrantsEnabled: may("password"),
        serviceAccountsEnabled: may("client_credentials") || protects,
        authorizationServicesEnabled: protects,
        consentRequired: registrant === undefined,
        redirectUris: wanted.redirectUris,
        attributes: {
          [BY_WHOM]: registrant?.id ?? "nobody",
          token_endpoint_auth_method: wanted.authMethod,
          grant_types: wanted.grantTypes.filter(may).join(" "),
          ...(wanted.softwareId !== undefined && { [SOFTWARE_ID]: wanted.softwareId }),
          ...(wanted.logoutUris.length > 0 && { "post.logout.redirect.uris": wanted.logoutUris.join("##") }),
        },
      },
    });
    for (const mapper of LOGIN_CLIENT_MAPPERS) {
      await insertMapper(db, { kind: "client", id }, mapper);
    }
    if (realm.settings.adminEventsEnabled && registrant !== undefined) {
      await insertAdminEvent(db, realm.id, {
        operation: "CREATE",
        resourceType: "CLIENT",
        resourcePath: `clients/${clientId}`,
        actorId: registrant.id,
        actorName: registrant.name,
        actorClient: registrant.clientId,
        ip: registrant.ip,
      });
    }
    return { client: (await findClient(db, realm.id, clientId)) as Client, isNew: true };
  });
}

async function findBySoftware(db: Queryable, realmId: string, softwareId: string): Promise<Client | undefined> {
  const { rows } = await db.query<{ client_id: string }>(
    `select client_id from client where realm_id = $1 and settings -> 'attributes' ->> $2 = $3
       and settings -> 'attributes' ->> $4 <> 'nobody'`,
    [realmId, SOFTWARE_ID, softwareId, BY_WHOM],
  );
  return rows[0] && findClient(db, realmId, rows[0].client_id);
}

async function countUnknown(db: Queryable, realmId: string): Promise<number> {
  const { rows } = await db.query<{ count: string }>(
    "select count(*) from client where realm_id = $1 and settings -> 'attributes' ->> $2 = 'nobody'",
    [realmId, BY_WHOM],
  );
  return Number(rows[0]?.count);
}

/** What the client is told of itself (RFC 7591 §3.2.1): what it got, which may be less than it asked for. */
function describe(
  { publicUrl }: IdentityContext,
  face: LoginFace,
  handle: RealmHandle,
  client: Client,
): Record<string, unknown> {
  const { clientId, secret, settings, scopes } = client;
  const { attributes } = settings;
  const grants = (attributes["grant_types"] ?? "").split(" ").filter((grant) => grant !== "");
  return {
    client_id: clientId,
    ...(secret !== undefined && !settings.publicClient && { client_secret: secret, client_secret_expires_at: 0 }),
    client_name: settings.name,
    redirect_uris: settings.redirectUris,
    ...(attributes["post.logout.redirect.uris"] !== undefined && {
      post_logout_redirect_uris: attributes["post.logout.redirect.uris"].split("##"),
    }),
    grant_types: grants,
    response_types: grants.includes("authorization_code") ? ["code"] : [],
    scope: ["openid", ...scopes.map(({ name }) => name)].join(" "),
    token_endpoint_auth_method: attributes["token_endpoint_auth_method"],
    subject_type: "public",
    access_token_as_jwt: true,
    ...(attributes[SOFTWARE_ID] !== undefined && { software_id: attributes[SOFTWARE_ID] }),
    uma_grant_supported: grants.includes(UMA_GRANT),
    registration_client_uri: `${publicUrl}${loginBase(face)}/register/${clientId}`,
    registration_access_token: managementToken(handle, client),
  };
}

/** RFC 7592 §3: made of the client's own row, so that nothing more is kept, and another client of that name has another. */
function managementToken({ realm }: RealmHandle, { id, clientId }: Client): string {
  return createHmac("sha256", `registration ${realm.secret}`).update(`${id} ${clientId}`).digest("base64url");
}

function isSame(one: string, other: string): boolean {
  return timingSafeEqual(hash("sha256", one, "buffer"), hash("sha256", other, "buffer"));
}
