import type { FastifyInstance } from "fastify";

import type { ApiContext } from "./context.ts";
import { RESPONSE_SCHEMAS } from "./answers.ts";
import { Policy } from "./schemas.ts";

const TYPES = ["client", "aggregated", "scope", "group", "regex", "role", "time", "user"];
type Params = { Params: { client: string; type: string; id: string } };

/** Policies and permissions of a client. */
export function addPolicyRoutes(app: FastifyInstance, { adminOf }: ApiContext): void {
  const tags = ["policies"];
  const type = { type: "object", properties: { type: { type: "string", enum: TYPES } } };
  const kindOf = (name: string) => (name === "scope" ? "permission/scope" : `policy/${name}`);

  app.get<Params>(
    "/:client/policies",
    { schema: { tags, summary: "Policies of a client", response: RESPONSE_SCHEMAS.policies } },
    async (request) => {
      const admin = adminOf(request);
      const client = await admin.findClient(request.params.client);
      return admin.send("GET", `/clients/${client}/authz/resource-server/policy?max=-1&permission=false`);
    },
  );
  app.post<Params>(
    "/:client/policies/:type",
    {
      schema: {
        tags,
        summary: "Create a policy of a type",
        params: type,
        body: Policy,
        response: RESPONSE_SCHEMAS.createPolicy,
      },
    },
    async (request) => {
      const admin = adminOf(request);
      const client = await admin.findClient(request.params.client);
      return admin.send(
        "POST",
        `/clients/${client}/authz/resource-server/${kindOf(request.params.type)}`,
        request.body,
      );
    },
  );
  app.put<Params>(
    "/:client/policies/:type/:id",
    {
      schema: { tags, summary: "Change a policy", params: type, body: Policy, response: RESPONSE_SCHEMAS.changePolicy },
    },
    async (request) => {
      const admin = adminOf(request);
      const { id, type: name } = request.params;
      const client = await admin.findClient(request.params.client);
      const path = `/clients/${client}/authz/resource-server/${kindOf(name)}/${encodeURIComponent(id)}`;
      return admin.send("PUT", path, request.body);
    },
  );
  app.delete<Params>(
    "/:client/policies/:id",
    { schema: { tags, summary: "Delete a policy", response: RESPONSE_SCHEMAS.deleted } },
    async (request) => {
      const admin = adminOf(request);
      const client = await admin.findClient(request.params.client);
      await admin.send(
        "DELETE",
        `/clients/${client}/authz/resource-server/policy/${encodeURIComponent(request.params.id)}`,
      );
      return {};
    },
  );
  app.get<{ Querystring: { name?: string } }>(
    "/policies",
    { schema: { tags, summary: "Policies of all clients, by name", response: RESPONSE_SCHEMAS.policies } },
    async (request) => {
      const admin = adminOf(request);
      const { name = "" } = request.query;
      const clients = await admin.send<readonly { id: string; authorizationServicesEnabled: boolean }[]>(
        "GET",
        "/clients",
      );
      const lists = await Promise.all(
        clients
          .filter(({ authorizationServicesEnabled }) => authorizationServicesEnabled)
          .map(({ id }) =>
            admin.send<readonly unknown[]>(
              "GET",
              `/clients/${id}/authz/resource-server/policy?max=-1&permission=false&name=${encodeURIComponent(name)}`,
            ),
          ),
      );
      return lists.flat();
    },
  );

  app.get<Params>(
    "/:client/permissions",
    { schema: { tags, summary: "Permissions of a client", response: RESPONSE_SCHEMAS.policies } },
    async (request) => {
      const admin = adminOf(request);
      const client = await admin.findClient(request.params.client);
      return admin.send("GET", `/clients/${client}/authz/resource-server/permission?max=-1`);
    },
  );
  app.get<Params>(
    "/:client/permissions/resources",
    { schema: { tags, summary: "Permissions on resources", response: RESPONSE_SCHEMAS.policies } },
    async (request) => {
      const admin = adminOf(request);
      const client = await admin.findClient(request.params.client);
      return admin.send("GET", `/clients/${client}/authz/resource-server/permission?max=-1&type=resource`);
    },
  );
  app.post<Params>(
    "/:client/permissions/resources",
    {
      schema: {
        tags,
        summary: "Create a permission on resources",
        body: Policy,
        response: RESPONSE_SCHEMAS.createPolicy,
      },
    },
    async (request) => {
      const admin = adminOf(request);
      const client = await admin.findClient(request.params.client);
      return admin.send("POST", `/clients/${client}/authz/resource-server/permission/resource`, request.body);
    },
  );
  app.get<Params>(
    "/:client/permissions/management",
    { schema: { tags, summary: "Whether the client protects resources", response: RESPONSE_SCHEMAS.enabled } },
    async (request) => {
      const admin = adminOf(request);
      const client = await admin.findClient(request.params.client);
      const { authorizationServicesEnabled: enabled } = await admin.send<{ authorizationServicesEnabled: boolean }>(
        "GET",
        `/clients/${client}`,
      );
      return { enabled };
    },
  );
  app.put<Params & { Body: { enabled: boolean } }>(
    "/:client/permissions/management",
    {
      schema: {
        tags,
        summary: "Have the client protect resources, or not",
        body: {
          type: "object",
          required: ["enabled"],
          additionalProperties: false,
          properties: { enabled: { type: "boolean" } },
        },
        response: RESPONSE_SCHEMAS.enabled,
      },
    },
    async (request) => {
      const admin = adminOf(request);
      const client = await admin.findClient(request.params.client);
      await admin.send("PUT", `/clients/${client}`, { authorizationServicesEnabled: request.body.enabled });
      return { enabled: request.body.enabled };
    },
  );
}
