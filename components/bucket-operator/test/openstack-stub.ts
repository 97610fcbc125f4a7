import { randomBytes, randomUUID } from "node:crypto";
import { type IncomingMessage, type ServerResponse, createServer } from "node:http";
import { json as readJson, text as readText } from "node:stream/consumers";

interface Project {
  readonly id: string;
  readonly name: string;
  readonly domain_id: string;
  readonly tags: readonly string[];
}
interface User {
  readonly id: string;
  readonly name: string;
  readonly domain_id: string;
  password: string;
  readonly default_project_id?: string;
  readonly email?: string;
}
interface Token {
  readonly user: string;
  readonly project?: string;
}
interface Container {
  readonly headers: Record<string, string>;
  readonly objects: Map<string, string>;
}

export const CLOUD = {
  domain: "cloud_00001",
  username: "operator@example.org",
  password: "only for this test",
  memberRole: "role-member",
  serviceProject: "project-of-the-service",
} as const;
const DOMAIN_ID = "domain-1";
/** What stands in a container for a static large object. */
export const LARGE = "large";

/**
 * As much of Keystone v3 (Identity API), Swift and S3 as the operator uses, with the rules of their documentation: names are unique in a
 * domain (409), tokens have scopes, a project's token needs a role in it, credentials are their user's own, a container with objects is
 * not deleted (409).
 */
// oxlint-disable-next-line typescript/explicit-module-boundary-types -- what it gives is what follows
export async function startOpenStackStub() {
  const projects = new Map<string, Project>();
  const users = new Map<string, User>();
  const tokens = new Map<string, Token>();
  const roles = new Set<string>();
  const ec2 = new Map<string, { access: string; secret: string; user_id: string; tenant_id: string }>();
  const containers = new Map<string, Container>();
  const policies = new Map<string, unknown>();
  const state = { requests: 0, hasBucketPolicies: true, isDown: false };
  /** Called before and after each request is carried out, with its method and path. */
  const hooks: { onRequest?: (what: string, when: "before" | "after") => void } = {};
  const admin: User = { id: "admin-1", name: CLOUD.username, domain_id: DOMAIN_ID, password: CLOUD.password };
  users.set(admin.id, admin);

  class Refused extends Error {
    readonly status: number;
    constructor(status: number, message: string) {
      super(message);
      this.status = status;
    }
  }

  const server = createServer((request, response) => {
    void handle(request, response).catch((error: unknown) => {
      const status = error instanceof Refused ? error.status : 500;
      response.writeHead(status, { "content-type": "application/json" });
      response.end(JSON.stringify({ error: { code: status, message: String((error as Error).message) } }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const origin = `http://127.0.0.1:${(server.address() as { port: number }).port}`;

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    state.requests += 1;
    const url = new URL(request.url ?? "/", origin);
    const what = `${request.method} ${url.pathname}`;
    hooks.onRequest?.(what, "before");
    if (state.isDown) {
      throw new Refused(503, "down for maintenance");
    }
    const [status, body, headers] = url.pathname.startsWith("/v3/")
      ? await identity(request, url)
      : url.pathname.startsWith("/v1/AUTH_")
        ? await swift(request, url)
        : await s3(request, url);
    hooks.onRequest?.(what, "after");
    response.writeHead(status, { "content-type": "application/json", ...headers });
    response.end(body === undefined ? undefined : JSON.stringify(body));
  }

  type TestResponse = [status: number, body?: unknown, headers?: Record<string, string>];

  async function identity(request: IncomingMessage, url: URL): Promise<TestResponse> {
    const path = url.pathname.slice(3);
    const body = ["POST", "PATCH"].includes(request.method ?? "") ? ((await readJson(request)) as Json) : {};
    if (path === "/auth/tokens") {
      return logIn(body);
    }
    const token = tokens.get(String(request.headers["x-auth-token"]));
    if (token === undefined) {
      throw new Refused(401, "The request you have made requires authentication.");
    }
    const [, kind = "", id = "", sub = "", ...rest] = path.split("/").map(decodeURIComponent);
    // Credentials are for a token of a project, whose holder they belong to; the rest is for the domain's administrator.
    const isAllowed =
      sub === "credentials"
        ? token.project !== undefined && token.user === id
        : token.user === admin.id && token.project === undefined;
    if (!isAllowed) {
      throw new Refused(403, "You are not authorized to perform the requested action.");
    }
    const route = `${request.method} ${[kind, id && "*", sub].filter(Boolean).join("/")}`;
    const all: Map<string, Project | User> = kind === "users" ? (users as Map<string, User>) : projects;
    const single = kind === "users" ? "user" : "project";
    switch (route) {
      case "GET projects":
      case "GET users": {
        const name = url.searchParams.get("name");
        return [200, { [kind]: [...all.values()].filter((each) => name === null || each.name === name).map(hide) }];
      }
      case "POST projects":
      case "POST users": {
        const fields = body[single] as Json;
        if (fields["domain_id"] !== DOMAIN_ID || typeof fields["name"] !== "string" || fields["name"].length > 64) {
          throw new Refused(400, "Invalid input");
        }
        if ([...all.values()].some(({ name }) => name === fields["name"])) {
          throw new Refused(409, `Conflict occurred attempting to store ${single} - Duplicate entry found`);
        }
        const made = { tags: [], ...fields, id: randomUUID().replaceAll("-", "") } as unknown as User & Project;
        all.set(made.id, made);
        return [201, { [single]: hide(made) }];
      }
      case "PATCH users/*": {
        Object.assign(find(users, id), body["user"]);
        return [200, { user: hide(find(users, id)) }];
      }
      case "DELETE users/*":
      case "DELETE projects/*":
        find<User | Project>(all, id);
        all.delete(id);
        [...ec2.values()].filter(({ user_id: user }) => user === id).forEach(({ access }) => ec2.delete(access));
        return [204];
      case "PUT projects/*/users": {
        const [user = "", , role = ""] = rest;
        find(projects, id);
        find(users, user);
        if (role !== CLOUD.memberRole) {
          throw new Refused(404, `Could not find role: ${role}.`);
        }
        roles.add(`${id} ${user}`);
        return [204];
      }
      case "GET users/*/credentials":
        return [200, { credentials: [...ec2.values()].filter(({ user_id: user }) => user === id) }];
      case "POST users/*/credentials": {
        const project = String(body["tenant_id"]);
        find(users, id);
        find(projects, project);
        const credential = {
          access: randomBytes(16).toString("hex"),
          secret: randomBytes(16).toString("hex"),
          user_id: id,
          tenant_id: project,
        };
        ec2.set(credential.access, credential);
        return [201, { credential }];
      }
      case "DELETE users/*/credentials":
        find(ec2, rest[1] ?? "");
        ec2.delete(rest[1] ?? "");
        return [204];
      default:
        throw new Refused(404, `no such path: ${route}`);
    }
  }

  function logIn(body: Json): TestResponse {
    const auth = body["auth"] as { identity: { password: { user: Json } }; scope?: Json };
    const expected = auth.identity.password.user as { id?: string; name?: string; domain?: Json; password: string };
    const user = [...users.values()].find(({ id, name }) =>
      expected.id === undefined
        ? name === expected.name && expected.domain?.["name"] === CLOUD.domain
        : id === expected.id,
    );
    if (user === undefined || user.password !== expected.password) {
      throw new Refused(401, "The request you have made requires authentication.");
    }
    const project = (auth.scope?.["project"] as { id?: string } | undefined)?.id;
    if (project !== undefined && !roles.has(`${project} ${user.id}`)) {
      throw new Refused(401, `User ${user.id} has no access to project ${project}`);
    }
    const id = randomUUID();
    tokens.set(id, { user: user.id, ...(project !== undefined && { project }) });
    const catalog = [
      {
        type: "object-store",
        endpoints: [
          { interface: "admin", url: `${origin}/admin` },
          { interface: "public", url: `${origin}/v1/AUTH_${project ?? ""}` },
        ],
      },
    ];
    const expires = new Date(Date.now() + 3_600_000).toISOString();
    const token =
      project === undefined
        ? { domain: { id: DOMAIN_ID, name: CLOUD.domain } }
        : { project: { id: project, domain: { id: DOMAIN_ID } }, catalog };
    return [201, { token: { user: { id: user.id }, expires_at: expires, ...token } }, { "x-subject-token": id }];
  }

  async function swift(request: IncomingMessage, url: URL): Promise<TestResponse> {
    const [, , account = "", name = "", ...rest] = url.pathname.split("/").map(decodeURIComponent);
    const token = tokens.get(String(request.headers["x-auth-token"]));
    if (token === undefined || account !== `AUTH_${token.project ?? ""}`) {
      throw new Refused(token === undefined ? 401 : 403, "Forbidden");
    }
    const key = `${account}/${name}`;
    const object = rest.join("/");
    const container = containers.get(key);
    const headers = Object.fromEntries(
      Object.entries(request.headers).filter(([field]) => field.startsWith("x-container-")),
    ) as Record<string, string>;
    await readText(request);
    if (request.method === "PUT" && object === "") {
      containers.set(key, container ?? { headers, objects: new Map() });
      return [container === undefined ? 201 : 202];
    }
    if (container === undefined) {
      throw new Refused(404, "Not Found");
    }
    if (request.method === "POST") {
      Object.assign(container.headers, headers);
      return [204];
    }
    if (request.method === "GET") {
      return [200, [...container.objects.keys()].slice(0, 2).map((each) => ({ name: each }))];
    }
    if (request.method === "HEAD") {
      const kind = container.objects.get(object);
      return [kind === undefined ? 404 : 200, undefined, kind === LARGE ? { "x-static-large-object": "True" } : {}];
    }
    if (object !== "") {
      const withSegments = url.searchParams.get("multipart-manifest") === "delete";
      // So says Swift, with 200, of an object that is no manifest.
      return withSegments && container.objects.get(object) !== LARGE
        ? [200, { "Response Status": "400 Bad Request", "Number Deleted": 0 }]
        : [container.objects.delete(object) ? 204 : 404];
    }
    if (container.objects.size > 0) {
      throw new Refused(409, "There was a conflict when trying to complete your request.");
    }
    containers.delete(key);
    return [204];
  }

  async function s3(request: IncomingMessage, url: URL): Promise<TestResponse> {
    const access = /Credential=([^/]+)\//.exec(request.headers.authorization ?? "")?.[1] ?? "";
    const credential = ec2.get(access);
    const bucket = url.pathname.split("/")[1] ?? "";
    if (!state.hasBucketPolicies) {
      throw new Refused(501, "NotImplemented");
    }
    if (credential === undefined || !containers.has(`AUTH_${credential.tenant_id}/${bucket}`)) {
      throw new Refused(403, "AccessDenied");
    }
    policies.set(bucket, await readJson(request));
    return [204];
  }

  function find<T>(map: ReadonlyMap<string, T>, id: string): T {
    const value = map.get(id);
    if (value === undefined) {
      throw new Refused(404, `Could not find: ${id}.`);
    }
    return value;
  }

  return {
    origin,
    projects,
    users,
    roles,
    ec2,
    containers,
    policies,
    state,
    hooks,
    forgetTokens: () => tokens.clear(),
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

type Json = Record<string, unknown>;

const hide = (record: User | Project): object => {
  const { password: _, ...shown } = { password: "", ...record };
  return shown;
};
