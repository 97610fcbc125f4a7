import { adminRealmPath } from "@swath/manifest/realm-paths";
import type { Peer } from "@swath/service";

import type { TokenSource } from "./service-token.ts";

export interface FoundUser {
  readonly id: string;
  readonly username: string;
}

/** A resource that some users may use, as the identity service keeps it for one of its clients. */
export interface ProtectedPath {
  /** Client id of the resource server. */
  readonly client: string;
  readonly name: string;
  readonly uris: readonly string[];
  /** Ids of users. */
  readonly users: readonly string[];
}

/** The part of the identity service's admin REST API that workspaces need. */
export interface IdentityAdmin {
  /** By id, else by user name. */
  readonly findUser: (nameOrId: string) => Promise<FoundUser | undefined>;
  /** Makes or mends the resource, its policy and its permission. Gives what had to be mended. */
  readonly ensureProtection: (path: ProtectedPath) => Promise<readonly string[]>;
  readonly removeProtection: (client: string, name: string) => Promise<void>;
}

interface IdentityAdminOptions {
  readonly peer: Peer;
  readonly realm: string;
  /** Of somebody who may use the parts of the admin API that are about users and protected resources. */
  readonly tokens: TokenSource;
}

interface Representation {
  readonly id: string;
  readonly name: string;
}
interface ResourceRepresentation {
  readonly _id: string;
  readonly name: string;
  readonly uris?: readonly string[];
  readonly scopes?: readonly { readonly name: string }[];
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** The identity service refused or failed. `status` is its answer's. */
export class IdentityError extends Error {
  override readonly name = "IdentityError";
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

export function createIdentityAdmin({ peer, realm, tokens }: IdentityAdminOptions): IdentityAdmin {
  const base = adminRealmPath(realm);

  const send = async (method: string, path: string, body: unknown, isSecond = false): ReturnType<Peer["fetch"]> => {
    const token = await tokens.get();
    const response = await peer.fetch(`${base}${path}`, {
      method,
      timeout: 10_000,
      headers: {
        authorization: `Bearer ${token}`,
        accept: "application/json",
        ...(body !== undefined && { "content-type": "application/json" }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    if (response.status !== 401 || isSecond) {
      return response;
    }
    // It was ended early: by an administrator, or with the keys of the realm.
    await response.text();
    tokens.drop(token);
    return send(method, path, body, true);
  };
  const call = async (method: string, path: string, body?: unknown): Promise<{ status: number; body: unknown }> => {
    const response = await send(method, path, body);
    const text = await response.text();
    if (!response.ok && response.status !== 404) {
      const where = path.split("?", 1)[0];
      throw new IdentityError(
        response.status,
        `the identity service answers ${response.status} to ${method} ${base}${where}: ${text.slice(0, 200)}`,
      );
    }
    return { status: response.status, body: text === "" ? undefined : (JSON.parse(text) as unknown) };
  };
  const list = async <Item>(path: string): Promise<readonly Item[]> => {
    const { status, body } = await call("GET", path);
    return status === 404 || !Array.isArray(body) ? [] : (body as Item[]);
  };
  /** Creates or, where `same` says that it is not as wanted, replaces. */
  const ensure = async (path: string, id: string | undefined, isRight: boolean, requested: object) => {
    if (id === undefined) {
      await call("POST", path, requested);
    } else if (!isRight) {
      await call("PUT", `${path}/${id}`, requested);
    }
  };

  const serverOf = async (client: string): Promise<string | undefined> => {
    const [found] = await list<Representation>(`/clients?clientId=${encodeURIComponent(client)}`);
    return found && `/clients/${found.id}/authz/resource-server`;
  };
  const findResource = async (server: string, name: string) => {
    const found = await list<ResourceRepresentation>(
      `${server}/resource?name=${encodeURIComponent(name)}&exactName=true&max=-1`,
    );
    return found.find((resource) => resource.name === name);
  };
  const findPolicy = async (server: string, kind: string, name: string) => {
    const found = await list<Representation>(`${server}/${kind}?name=${encodeURIComponent(name)}&max=-1`);
    return found.find((policy) => policy.name === name);
  };

  return {
    findUser: async (nameOrId) => {
      if (UUID.test(nameOrId)) {
        const { status, body } = await call("GET", `/users/${nameOrId}`);
        if (status === 200) {
          return body as FoundUser;
        }
      }
      const users = await list<FoundUser>(`/users?exact=true&username=${encodeURIComponent(nameOrId)}`);
      const found = users.find(({ username }) => username === nameOrId.toLowerCase());
      return found && { id: found.id, username: found.username };
    },

    ensureProtection: async ({ client, name, uris, users }) => {
      const server = await serverOf(client);
      if (server === undefined) {
        throw new IdentityError(404, `realm ${realm} has no client ${client}; deploy again to have it made`);
      }
      const repaired: string[] = [];
      const resource = await findResource(server, name);
      const hasResource = resource !== undefined;
      const isRight =
        hasResource &&
        sameSet(resource.uris ?? [], uris) &&
        (resource.scopes ?? []).some((scope) => scope.name === "view");
      if (hasResource && !isRight) {
        repaired.push(`the protected paths of ${name} had been changed`);
      }
      // Without its paths at first: until the permission is there, the resource would take them from the administrator as well.
      const fields = { name, scopes: [{ name: "view" }] };
      if (!hasResource) {
        await call("POST", `${server}/resource`, { ...fields, uris: [] });
      }
      const made = resource ?? (await findResource(server, name));
      if (made === undefined) {
        throw new IdentityError(500, `the identity service does not show resource ${name} that it has just made`);
      }

      const policyName = `${name} User Policy`;
      const policy = await findPolicy(server, "policy/user", policyName);
      const requestedPolicy = { name: policyName, logic: "POSITIVE", decisionStrategy: "UNANIMOUS", users };
      let policyIsRight = false;
      if (policy !== undefined) {
        const { body } = await call("GET", `${server}/policy/user/${policy.id}`);
        const { users: actual = [], logic } = body as { users?: readonly string[]; logic?: string };
        policyIsRight = sameSet(actual, users) && logic === "POSITIVE";
        if (!policyIsRight) {
          repaired.push(`the policy of ${name} did not name the members of the workspace`);
        }
      }
      await ensure(`${server}/policy/user`, policy?.id, policyIsRight, {
        ...requestedPolicy,
        ...(policy && { id: policy.id }),
      });
      const madePolicy = policy ?? (await findPolicy(server, "policy/user", policyName));

      const permissionName = `${name} Permission`;
      const permission = await findPolicy(server, "permission/resource", permissionName);
      let permissionIsRight = false;
      if (permission !== undefined) {
        const [resources, policies] = await Promise.all([
          list<ResourceRepresentation>(`${server}/policy/${permission.id}/resources`),
          list<Representation>(`${server}/policy/${permission.id}/associatedPolicies`),
        ]);
        permissionIsRight =
          sameSet(
            resources.map(({ _id }) => _id),
            [made._id],
          ) &&
          sameSet(
            policies.map(({ id }) => id),
            [madePolicy?.id ?? ""],
          );
        if (!permissionIsRight) {
          repaired.push(`the permission of ${name} had been changed`);
        }
      }
      await ensure(`${server}/permission/resource`, permission?.id, permissionIsRight, {
        ...(permission && { id: permission.id }),
        name: permissionName,
        logic: "POSITIVE",
        decisionStrategy: "UNANIMOUS",
        resources: [made._id],
        policies: [madePolicy?.id],
      });
      if (!isRight) {
        await call("PUT", `${server}/resource/${made._id}`, { ...fields, uris, _id: made._id });
      }
      return repaired;
    },

    removeProtection: async (client, name) => {
      const server = await serverOf(client);
      if (server === undefined) {
        return;
      }
      const permission = await findPolicy(server, "permission/resource", `${name} Permission`);
      if (permission !== undefined) {
        await call("DELETE", `${server}/permission/resource/${permission.id}`);
      }
      const policy = await findPolicy(server, "policy/user", `${name} User Policy`);
      if (policy !== undefined) {
        await call("DELETE", `${server}/policy/user/${policy.id}`);
      }
      const resource = await findResource(server, name);
      if (resource !== undefined) {
        await call("DELETE", `${server}/resource/${resource._id}`);
      }
    },
  };
}

function sameSet(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((item) => other.includes(item));
}
