import type { FastifyInstance } from "fastify";

import type { IdentityContext } from "../context.ts";
import { readRealmSettings } from "../realm-settings.ts";
import { EVENT_TYPES } from "../store/events.ts";
import { updateRealm } from "../store/realms.ts";
import { forRoles, readObject } from "./request.ts";

/** What of logins and changes is kept, and for how long. */
export function addEventSettingRoutes(app: FastifyInstance, context: IdentityContext): void {
  const path = "/admin/realms/:realm/events/config";
  app.get(
    path,
    forRoles(context, ["view-events"], ({ handle: { realm } }) => ({
      eventsEnabled: realm.settings.eventsEnabled,
      eventsExpiration: realm.settings.eventsExpiration,
      eventsListeners: [],
      enabledEventTypes: EVENT_TYPES,
      adminEventsEnabled: realm.settings.adminEventsEnabled,
      adminEventsDetailsEnabled: false,
    })),
  );
  app.put(
    path,
    forRoles(context, ["manage-events"], async ({ handle, body, change, reply }) => {
      const { eventsEnabled, eventsExpiration, adminEventsEnabled } = readObject(body);
      const settings = readRealmSettings({ eventsEnabled, eventsExpiration, adminEventsEnabled });
      await change({ operation: "UPDATE", resourceType: "REALM", resourcePath: "events/config" }, (db) =>
        updateRealm(db, handle.realm.name, { settings }),
      );
      return reply.code(204).send();
    }),
  );
}
