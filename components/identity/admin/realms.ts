import type { FastifyInstance } from "fastify";

import type { IdentityContext } from "../context.ts";
import { readRealmSettings } from "../realm-settings.ts";
import { MANAGEMENT_ROLES, createRealm } from "../realms/create-realm.ts";
import { isUuid } from "../store/database.ts";
import { insertAdminEvent } from "../store/events.ts";
import { listKeys, rotateKeys } from "../store/keys.ts";
import { type Realm, deleteRealm, findRealm, listRealms, updateRealm } from "../store/realms.ts";
import { findActor, findActorOfAnyRealm, requireRole } from "./authorize.ts";
import { AdminError, badRequest } from "./errors.ts";
import { forRoles, runChange, readBoolean, readObject, readText } from "./request.ts";
import { ImportLog, MAX_DOCUMENT_BYTES } from "./transfer/import-log.ts";
import { importRealm } from "./transfer/import-realm.ts";
import { hashPlainPasswords } from "./transfer/import-users.ts";
import { isRealmDocument, readImportedSettings } from "./transfer/import-settings.ts";

export function toRealmRepresentation(realm: Realm): Record<string, unknown> {
  return {
    id: realm.id,
    realm: realm.name,
    displayName: realm.displayName ?? realm.name,
    enabled: realm.enabled,
    ...realm.settings,
  };
}

/** `/admin/realms`: the realms themselves, their settings and keys. */
export function addRealmRoutes(app: FastifyInstance, context: IdentityContext): void {
  const { pool } = context;
  app.get("/admin/realms", async (request, reply) => {
    void reply.header("cache-control", "no-store");
    const { actor, realm: own } = await findActorOfAnyRealm(context, request);
    const isOfAll = actor.may("create-realm");
    // Each sees what is theirs: all realms, the settings of their own, or of it the name.
    const shown = (await listRealms(pool)).flatMap((realm) => {
      if (isOfAll) {
        return [toRealmRepresentation(realm)];
      }
      if (realm.name !== own || !MANAGEMENT_ROLES.some((role) => actor.may(role))) {
        return [];
      }
      return [actor.may("view-realm") ? toRealmRepresentation(realm) : { realm: realm.name }];
    });
    if (shown.length === 0) {
      throw new AdminError(403, "HTTP 403 Forbidden");
    }
    return shown;
  });
  app.post("/admin/realms", { bodyLimit: MAX_DOCUMENT_BYTES }, async (request, reply) => {
    const actor = await findActor(context, "master", request);
    requireRole(actor, "create-realm");
    const body = readObject(request.body);
    const name = readText(body, "realm") ?? "";
    if (!/^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/.test(name)) {
      throw badRequest(
        `realm is ${JSON.stringify(name)}; allowed: 1 to 64 letters, digits and _ . -, beginning with a letter or digit`,
      );
    }
    if ((await findRealm(pool, name)) !== undefined) {
      throw new AdminError(409, `Conflict detected. Realm ${name} already exists`);
    }
    const id = readText(body, "id");
    // A document of another service has more than this one takes: what that is, the response says.
    const isDocument = isRealmDocument(body);
    const log = new ImportLog({ onConflict: "SKIP", isLenient: true });
    const passwordHashes = await hashPlainPasswords(context.hasher, body);
    await runChange(context, async (db) => {
      const settings = isDocument ? readImportedSettings(body, log) : readRealmSettings(body);
      const realm = await createRealm(db, {
        ...(id !== undefined && isUuid(id) && { id }),
        name,
        displayName: readText(body, "displayName"),
        enabled: readBoolean(body, "enabled"),
        settings,
      });
      if (isDocument) {
        await importRealm({ db, realm, passwordHashes, log, givesAdministration: true }, body);
      }
      await insertAdminEvent(db, realm.id, {
        operation: "CREATE",
        resourceType: "REALM",
        resourcePath: name,
        actorId: actor.user.id,
        actorName: actor.user.username,
        actorClient: actor.clientId,
        ip: actor.ip,
      });
    });
    void reply.code(201).header("location", `${context.publicUrl}/admin/realms/${name}`);
    const { results, notImported } = log;
    return isDocument ? reply.send({ added: results.length, results, notImported }) : reply.send();
  });

  const base = "/admin/realms/:realm";
  app.get(
    base,
    forRoles(context, ["view-realm"], ({ handle }) => toRealmRepresentation(handle.realm)),
  );
  app.put(
    base,
    forRoles(context, ["manage-realm"], async ({ handle, body, change, reply }) => {
      const source = readObject(body);
      const { name } = handle.realm;
      if (name === "master" && readBoolean(source, "enabled") === false) {
        throw badRequest("Realm master cannot be disabled: nobody could enable it again");
      }
      const renamed = readText(source, "realm");
      if (renamed !== undefined && renamed !== name) {
        throw badRequest("A realm keeps its name: tokens and addresses hang on it");
      }
      const settings = readRealmSettings(source);
      await change({ operation: "UPDATE", resourceType: "REALM", resourcePath: name }, (db) =>
        updateRealm(db, name, {
          displayName: readText(source, "displayName"),
          enabled: readBoolean(source, "enabled"),
          settings,
        }),
      );
      return reply.code(204).send();
    }),
  );
  app.delete(base, async (request, reply) => {
    const name = (request.params as { realm: string }).realm;
    requireRole(await findActor(context, "master", request), "create-realm");
    if (name === "master") {
      throw badRequest("Realm master cannot be deleted");
    }
    if (!(await runChange(context, (db) => deleteRealm(db, name)))) {
      throw new AdminError(404, "Realm not found");
    }
    return reply.code(204).send();
  });

  app.get(
    `${base}/keys`,
    forRoles(context, ["view-realm"], async ({ handle }) => {
      const keys = await listKeys(pool, handle.realm.id);
      return {
        active: Object.fromEntries(keys.filter(({ status }) => status === "active").map(({ alg, kid }) => [alg, kid])),
        keys: keys.map(({ kid, alg, status, createdAt }) => ({
          kid,
          algorithm: alg,
          type: alg === "RS256" ? "RSA" : "EC",
          use: "SIG",
          status: status.toUpperCase(),
          validFrom: createdAt.getTime(),
        })),
      };
    }),
  );
  app.post(
    `${base}/keys/rotate`,
    forRoles(context, ["manage-realm"], async ({ handle, change, reply }) => {
      const { realm } = handle;
      await change({ operation: "ACTION", resourceType: "REALM", resourcePath: "keys/rotate" }, (db) =>
        rotateKeys(db, realm, realm.settings.accessTokenLifespan),
      );
      return reply.code(204).send();
    }),
  );
}
