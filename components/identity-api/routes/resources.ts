import type { FastifyInstance } from "fastify";
import type { Static } from "typebox";

import { type AdminClient, ignoreConflict } from "../admin-client.ts";
import type { ApiContext } from "./context.ts";
import { RESPONSE_SCHEMAS } from "./answers.ts";
import { ResourceChange, Resources } from "./schemas.ts";
import type { Resource } from "./schemas.ts";

type ResourceBody = Static<typeof Resource>;
interface Named {
  readonly id: string;
  readonly name: string;
}
interface StoredResource {
  readonly _id: string;
  readonly name: string;
  readonly scopes: readonly { readonly name: string }[];
}

const DEFAULT_RESOURCE = "Default Resource";
const DEFAULT_POLICY = "Default Policy";

/** Makes a resource with a policy for each kind of people named, and the permission that ties them together. */
export async function createResource(admin: AdminClient, client: string, body: ResourceBody): Promise<unknown> {
  const server = `/clients/${client}/authz/resource-server`;
  const {
    name,
    uris,
    attributes,
    scopes = ["view"],
    ownerManagedAccess = false,
    decisionStrategy = "UNANIMOUS",
  } = body;
  const requested = { name, uris, scopes: scopes.map((scope) => ({ name: scope })), attributes, ownerManagedAccess };
  const isDefault = name === DEFAULT_RESOURCE;
  const existing = await findResource(admin, client, name);
  const made =
    isDefault && existing !== undefined
      ? await admin.send("PUT", `${server}/resource/${existing._id}`, requested)
      : await admin.send<StoredResource>("POST", `${server}/resource`, requested);
  const resource = (await findResource(admin, client, name)) as StoredResource;
  const policies = await createPolicies(admin, client, body, isDefault);
  if (policies.length > 0) {
    await ignoreConflict(
      admin.send("POST", `${server}/permission/resource`, {
        name: `${name} Permission`,
        type: "resource",
        logic: "POSITIVE",
        decisionStrategy,
        resources: [resource._id],
        policies,
      }),
    );
  }
  return made ?? resource;
}

async function findResource(admin: AdminClient, client: string, name: string): Promise<StoredResource | undefined> {
  const path = `/clients/${client}/authz/resource-server/resource?exactName=true&name=${encodeURIComponent(name)}`;
  return (await admin.send<readonly StoredResource[]>("GET", path))[0];
}

async function findPolicy(admin: AdminClient, client: string, name: string): Promise<Named | undefined> {
  const path = `/clients/${client}/authz/resource-server/policy?max=-1&name=${encodeURIComponent(name)}`;
  return (await admin.send<readonly Named[]>("GET", path)).find((policy) => policy.name === name);
}

async function createPolicies(
  admin: AdminClient,
  client: string,
  { name, permissions = {} }: ResourceBody,
  isDefault: boolean,
): Promise<readonly string[]> {
  const path = `/clients/${client}/authz/resource-server/policy`;
  const { user = [], role = [], authenticated = false } = permissions;
  const ensure = async (type: string, policyName: string, rule: object): Promise<string> => {
    const made = await ignoreConflict(
      admin.send<Named>("POST", `${path}/${type}`, {
        name: policyName,
        logic: "POSITIVE",
        decisionStrategy: "UNANIMOUS",
        ...rule,
      }),
    );
    const policy = made ?? (await findPolicy(admin, client, policyName));
    return policy?.id ?? policyName;
  };
  return [
    ...(role.length > 0 ? [await ensure("role", `${name} Role Policy`, { roles: role.map((id) => ({ id })) })] : []),
    ...(user.length > 0 ? [await ensure("user", `${name} User Policy`, { users: user })] : []),
    ...(authenticated
      ? [await ensure("authenticated", isDefault ? DEFAULT_POLICY : `${name} Authenticated Policy`, {})]
      : []),
  ];
}

/** Resources of a client. */
export function addResourceRoutes(app: FastifyInstance, { adminOf }: ApiContext): void {
  const tags = ["resources"];
  app.post<{ Params: { client: string }; Body: Static<typeof Resources> }>(
    "/:client/resources",
    {
      schema: {
        tags,
        summary: "Create resources with their policies and permissions",
        body: Resources,
        response: RESPONSE_SCHEMAS.createResources,
      },
    },
    async (request) => {
      const admin = adminOf(request);
      const client = await admin.findClient(request.params.client);
      const made: unknown[] = [];
      for (const resource of request.body) {
        made.push(await createResource(admin, client, resource));
      }
      return made;
    },
  );
  app.put<{ Params: { client: string; id: string }; Body: Static<typeof ResourceChange> }>(
    "/:client/resources/:id",
    { schema: { tags, summary: "Change a resource", body: ResourceChange, response: RESPONSE_SCHEMAS.changed } },
    async (request) => {
      const admin = adminOf(request);
      const client = await admin.findClient(request.params.client);
      const { permissions: _permissions, decisionStrategy: _strategy, _id, resource_scopes, ...body } = request.body;
      const { scopes = resource_scopes, ...fields } = body;
      await admin.send(
        "PUT",
        `/clients/${client}/authz/resource-server/resource/${encodeURIComponent(request.params.id)}`,
        {
          ...fields,
          ...(scopes && {
            scopes: scopes.map((scope) => (typeof scope === "string" ? { name: scope } : { name: scope.name })),
          }),
        },
      );
      return {};
    },
  );
  app.delete<{ Params: { client: string; id: string } }>(
    "/:client/resources/:id",
    { schema: { tags, summary: "Delete a resource", response: RESPONSE_SCHEMAS.deleted } },
    async (request) => {
      const admin = adminOf(request);
      const client = await admin.findClient(request.params.client);
      await admin.send(
        "DELETE",
        `/clients/${client}/authz/resource-server/resource/${encodeURIComponent(request.params.id)}`,
      );
      return {};
    },
  );
  app.delete<{ Params: { client: string; name: string } }>(
    "/:client/resources/:name/all",
    {
      schema: {
        tags,
        summary: "Delete a resource with its policies and permissions",
        response: RESPONSE_SCHEMAS.deleted,
      },
    },
    async (request) => {
      const admin = adminOf(request);
      const client = await admin.findClient(request.params.client);
      const { name } = request.params;
      const server = `/clients/${client}/authz/resource-server`;
      const all = await admin.send<readonly Named[]>("GET", `${server}/policy?max=-1&name=${encodeURIComponent(name)}`);
      const own = ["Permission", "Role Policy", "User Policy", "Authenticated Policy"].map((kind) => `${name} ${kind}`);
      for (const policyName of own) {
        const policy = all.find((candidate) => candidate.name === policyName);
        if (policy !== undefined) {
          await admin.send("DELETE", `${server}/policy/${policy.id}`);
        }
      }
      const resource = await findResource(admin, client, name);
      if (resource !== undefined) {
        await admin.send("DELETE", `${server}/resource/${resource._id}`);
      }
      return {};
    },
  );
  app.get<{ Querystring: { client_id?: string } }>(
    "/resources",
    { schema: { tags, summary: "Resources of a client, or of all", response: RESPONSE_SCHEMAS.resources } },
    async (request) => {
      const admin = adminOf(request);
      const { client_id: requested } = request.query;
      if (requested !== undefined) {
        return admin.send("GET", `/clients/${await admin.findClient(requested)}/authz/resource-server/resource`);
      }
      const clients = await admin.send<readonly { id: string; authorizationServicesEnabled: boolean }[]>(
        "GET",
        "/clients",
      );
      const servers = clients.filter(({ authorizationServicesEnabled }) => authorizationServicesEnabled);
      const lists = await Promise.all(
        servers.map(({ id }) => admin.send<readonly unknown[]>("GET", `/clients/${id}/authz/resource-server/resource`)),
      );
      return lists.flat();
    },
  );
  app.get<{ Params: { id: string }; Querystring: { client_id: string } }>(
    "/resources/:id",
    {
      schema: {
        tags,
        summary: "One resource of a client",
        querystring: { type: "object", required: ["client_id"], properties: { client_id: { type: "string" } } },
        response: RESPONSE_SCHEMAS.resource,
      },
    },
    async (request) => {
      const admin = adminOf(request);
      const client = await admin.findClient(request.query.client_id);
      return admin.send(
        "GET",
        `/clients/${client}/authz/resource-server/resource/${encodeURIComponent(request.params.id)}`,
      );
    },
  );
}
