import { METHOD_RESOURCE_TYPE, methodScope } from "@swath/auth";

import { CommandError } from "../../commands/command.ts";
import { type AdminSession, describe } from "../admin-session.ts";
import type { ProtectedPath } from "./protected-paths.ts";

export type Outcome = "protected" | "as it was" | "changed" | "removed" | "was not there";

interface Named {
  readonly id: string;
  readonly name: string;
}
interface ResourceRecord {
  readonly _id: string;
  readonly name: string;
  readonly type?: string;
  readonly uris?: readonly string[];
  readonly scopes?: readonly Named[];
}

const SCOPES = ["get", "post", "put", "delete", "head", "patch"].map(methodScope).toSorted();

/** The rules of one service's client, by the admin API. */
export interface ServiceRules {
  /** What no rule covers is for everybody who is logged in, or, as before, for nobody. */
  readonly setMode: (mode: "PERMISSIVE" | "ENFORCING") => Promise<void>;
  readonly protect: (path: ProtectedPath, admin: string) => Promise<Outcome>;
  readonly release: (path: ProtectedPath) => Promise<Outcome>;
}

/** @throws {CommandError} */
export async function openServiceRules(session: AdminSession, admin: string, service: string): Promise<ServiceRules> {
  const call = async (method: string, path: string, body?: object): Promise<unknown> => {
    const response = await session.request(method, `${admin}${path}`, body);
    if (response.status >= 400) {
      throw new CommandError(
        `the protection of ${service} cannot be changed: ${describe(response.status, response.body)}`,
      );
    }
    return response.body;
  };
  const clients = (await call("GET", `/clients?clientId=${encodeURIComponent(service)}`)) as readonly Named[];
  const client = clients[0];
  if (client === undefined) {
    throw new CommandError(`the login service has no client ${service}; deploy again: deploy/swath/swath.sh apply`);
  }
  const base = `/clients/${client.id}/authz/resource-server`;
  const findResource = async (name: string) =>
    (
      (await call(
        "GET",
        `${base}/resource?name=${encodeURIComponent(name)}&exactName=true`,
      )) as readonly ResourceRecord[]
    ).find((resource) => resource.name === name);
  const findPolicy = async (kind: string, name: string) =>
    ((await call("GET", `${base}/${kind}?name=${encodeURIComponent(name)}`)) as readonly Named[]).find(
      (policy) => policy.name === name,
    );
  const putPolicy = async (kind: string, body: { readonly name: string }): Promise<string> => {
    const known = await findPolicy(kind, body.name);
    if (known === undefined) {
      return ((await call("POST", `${base}/${kind}`, body)) as Named).id;
    }
    await call("PUT", `${base}/${kind}/${known.id}`, { ...body, id: known.id });
    return known.id;
  };
  return {
    setMode: async (mode) => {
      const settings = (await call("GET", base)) as Readonly<Record<string, unknown>>;
      await call("PUT", base, { ...settings, policyEnforcementMode: mode, decisionStrategy: "AFFIRMATIVE" });
    },
    protect: async ({ path, user }, adminId) => {
      const names = namesOf(path);
      const resource = await findResource(names.resource);
      const users = [user.id, adminId];
      const policy = await findPolicy("policy/user", names.policy);
      const named =
        policy && ((await call("GET", `${base}/policy/user/${policy.id}`)) as { users?: readonly string[] });
      const permission = await findPolicy("permission/resource", names.permission);
      const uris = [`${path}/*`];
      const isRight =
        resource?.type === METHOD_RESOURCE_TYPE &&
        isSame(resource.uris ?? [], uris) &&
        isSame(
          (resource.scopes ?? []).map(({ name }) => name),
          SCOPES,
        );
      if (isRight && permission !== undefined && isSame(named?.users ?? [], users)) {
        return "as it was";
      }
      // First who may, then the path: a path that nobody has a permission for would be everybody's.
      const policyId = await putPolicy("policy/user", {
        name: names.policy,
        users,
        logic: "POSITIVE",
        decisionStrategy: "UNANIMOUS",
      } as never);
      const fields = {
        name: names.resource,
        type: METHOD_RESOURCE_TYPE,
        owner: user.id,
        scopes: SCOPES.map((name) => ({ name })),
      };
      const resourceId =
        resource?._id ?? ((await call("POST", `${base}/resource`, { ...fields, uris: [] })) as ResourceRecord)._id;
      await putPolicy("permission/resource", {
        name: names.permission,
        resources: [resourceId],
        policies: [policyId],
        decisionStrategy: "AFFIRMATIVE",
      } as never);
      await call("PUT", `${base}/resource/${resourceId}`, { ...fields, uris });
      return resource === undefined ? "protected" : "changed";
    },
    release: async ({ path }) => {
      const names = namesOf(path);
      const resource = await findResource(names.resource);
      const permission = await findPolicy("permission/resource", names.permission);
      const policy = await findPolicy("policy/user", names.policy);
      // The path first: without its permission it would be everybody's for a moment.
      if (resource !== undefined) {
        await call("DELETE", `${base}/resource/${resource._id}`);
      }
      if (permission !== undefined) {
        await call("DELETE", `${base}/permission/resource/${permission.id}`);
      }
      if (policy !== undefined) {
        await call("DELETE", `${base}/policy/user/${policy.id}`);
      }
      return resource === undefined && permission === undefined && policy === undefined ? "was not there" : "removed";
    },
  };
}

function namesOf(path: string): { readonly resource: string; readonly policy: string; readonly permission: string } {
  const resource = `Protection of ${path}`;
  return { resource, policy: `${resource}: users`, permission: `${resource}: permission` };
}

function isSame(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((item) => other.includes(item));
}
