import type { FastifyInstance } from "fastify";
import type { Static } from "typebox";

import { ignoreConflict } from "../admin-client.ts";
import type { ApiContext } from "./context.ts";
import { RESPONSE_SCHEMAS } from "./answers.ts";
import { createResource } from "./resources.ts";
import { NewClient } from "./schemas.ts";

/** Clients, with what they protect. */
export function addClientRoutes(app: FastifyInstance, { adminOf }: ApiContext): void {
  app.post<{ Body: Static<typeof NewClient> }>(
    "/clients",
    {
      schema: {
        tags: ["clients"],
        summary: "Create a client and its resources in one call",
        description:
          "A client that exists is left as it is; its resources are added. A public client protects nothing.",
        body: NewClient,
        response: RESPONSE_SCHEMAS.createClient,
      },
    },
    async (request) => {
      const admin = adminOf(request);
      const { resources = [], publicClient = false, ...fields } = request.body;
      await ignoreConflict(
        admin.send("POST", "/clients", {
          ...fields,
          publicClient,
          ...(publicClient && { authorizationServicesEnabled: false, serviceAccountsEnabled: false }),
        }),
      );
      const client = await admin.findClient(fields.clientId);
      const made: unknown[] = [];
      for (const resource of publicClient ? [] : resources) {
        made.push(
          (await ignoreConflict(createResource(admin, client, resource))) ?? { name: resource.name, exists: true },
        );
      }
      return { client, ...(made.length > 0 && { resources: made }) };
    },
  );
}
