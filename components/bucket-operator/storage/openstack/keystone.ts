import { type Dispatcher, type Response, fetch } from "undici";

import { StorageRefusal } from "../bucket-storage.ts";

export interface CloudAccount {
  /** Keystone v3, ending in `/v3`. */
  readonly url: string;
  readonly domain: string;
  readonly username: string;
  readonly password: string;
}

export interface KeystoneToken {
  readonly token: string;
  readonly userId: string;
  /** Id of the domain that the token is for; of a project's token, the domain of that project. */
  readonly domainId: string;
  /** Public address of the object storage for the token's project, where it has one. */
  readonly storageUrl: string | undefined;
  readonly expiresAt: number;
}

export interface KeystoneProject {
  readonly id: string;
  readonly name: string;
  readonly tags?: readonly string[];
}

export interface KeystoneUser {
  readonly id: string;
  readonly name: string;
  readonly description?: string;
  readonly default_project_id?: string;
}

interface Ec2Credential {
  readonly access: string;
  readonly secret: string;
  readonly tenant_id: string;
}

/** What the operator does with Keystone (Identity API v3), as the administrator of the domain where nothing else is said. */
export interface Keystone {
  readonly admin: (signal: AbortSignal) => Promise<KeystoneToken>;
  /** A token for a project, of the administrator or of a user by password. */
  readonly forProject: (
    projectId: string,
    user: { readonly id: string; readonly password: string } | undefined,
    signal: AbortSignal,
  ) => Promise<KeystoneToken>;
  readonly findProject: (name: string, signal: AbortSignal) => Promise<KeystoneProject | undefined>;
  /** Undefined where one of that name was made in between. */
  readonly createProject: (
    project: { readonly name: string; readonly description: string; readonly tags: readonly string[] },
    signal: AbortSignal,
  ) => Promise<KeystoneProject | undefined>;
  readonly deleteProject: (id: string, signal: AbortSignal) => Promise<void>;
  readonly findUser: (name: string, signal: AbortSignal) => Promise<KeystoneUser | undefined>;
  readonly createUser: (user: object, signal: AbortSignal) => Promise<KeystoneUser | undefined>;
  readonly changeUser: (id: string, user: object, signal: AbortSignal) => Promise<void>;
  readonly deleteUser: (id: string, signal: AbortSignal) => Promise<void>;
  readonly grantRole: (projectId: string, userId: string, roleId: string, signal: AbortSignal) => Promise<void>;
  // EC2 credentials as the user whose they are: Keystone lets no token of a domain at them.
  readonly listEc2: (user: KeystoneToken, signal: AbortSignal) => Promise<readonly Ec2Credential[]>;
  readonly createEc2: (user: KeystoneToken, projectId: string, signal: AbortSignal) => Promise<Ec2Credential>;
  readonly deleteEc2: (user: KeystoneToken, access: string, signal: AbortSignal) => Promise<void>;
}

const TIMEOUT_MS = 30_000;
/** A token is not used in its last minute. */
const MARGIN_MS = 60_000;

export function createKeystone(account: CloudAccount, dispatcher?: Dispatcher): Keystone {
  const base = account.url.replace(/\/+$/, "");
  let current: KeystoneToken | undefined;

  const send = async (
    method: string,
    path: string,
    { body, token, signal }: { body?: object; token?: string; signal: AbortSignal },
  ): Promise<Response> => {
    try {
      return await fetch(`${base}${path}`, {
        method,
        signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
        ...(dispatcher && { dispatcher }),
        headers: {
          accept: "application/json",
          ...(token !== undefined && { "x-auth-token": token }),
          ...(body && { "content-type": "application/json" }),
        },
        ...(body && { body: JSON.stringify(body) }),
      });
    } catch (error) {
      const cause = error instanceof Error && error.cause instanceof Error ? error.cause : (error as Error);
      throw new Error(
        `the cloud's identity service ${base} cannot be reached: ${cause.message}; check CLOUD_IDENTITY_URL`,
        {
          cause: error,
        },
      );
    }
  };

  const logIn = async (user: object, scope: object, signal: AbortSignal): Promise<KeystoneToken> => {
    const response = await send("POST", "/auth/tokens", {
      body: { auth: { identity: { methods: ["password"], password: { user } }, scope } },
      signal,
    });
    if (!response.ok) {
      throw await toRefusal(response, "POST /auth/tokens");
    }
    const token = response.headers.get("x-subject-token");
    const { token: body } = (await response.json()) as { token: TokenBody };
    const domainId = body.domain?.id ?? body.project?.domain.id;
    if (token === null || domainId === undefined) {
      throw new Error(`${base} gave a token without an id or a scope`);
    }
    return {
      token,
      userId: body.user.id,
      domainId,
      storageUrl: body.catalog
        ?.find(({ type }) => type === "object-store")
        ?.endpoints.find((endpoint) => endpoint.interface === "public")
        ?.url.replace(/\/+$/, ""),
      expiresAt: Date.parse(body.expires_at),
    };
  };

  const administrator = {
    name: account.username,
    domain: { name: account.domain },
    password: account.password,
  };
  const admin = async (signal: AbortSignal): Promise<KeystoneToken> => {
    if (current === undefined || current.expiresAt < Date.now() + MARGIN_MS) {
      current = await logIn(administrator, { domain: { name: account.domain } }, signal);
    }
    return current;
  };

  /** A call with a token that was just given. */
  const callAs = async (
    { token }: KeystoneToken,
    method: string,
    path: string,
    signal: AbortSignal,
    { body, expected }: { readonly body?: object; readonly expected?: number } = {},
  ): Promise<Response> => {
    const response = await send(method, path, { token, signal, ...(body && { body }) });
    if (!response.ok && response.status !== expected) {
      throw await toRefusal(response, `${method} ${path}`);
    }
    return response;
  };

  /** A call as the administrator; a token that was revoked meanwhile is replaced once. */
  const call = async (
    method: string,
    path: string,
    signal: AbortSignal,
    body?: object,
    isExpected: (status: number) => boolean = () => false,
  ): Promise<Response> => {
    for (let tries = 0; ; tries += 1) {
      const { token } = await admin(signal);
      const response = await send(method, path, { token, signal, ...(body && { body }) });
      if (response.status === 401 && tries === 0) {
        await response.arrayBuffer();
        current = undefined;
        continue;
      }
      if (!response.ok && !isExpected(response.status)) {
        throw await toRefusal(response, `${method} ${path.split("?")[0]}`);
      }
      return response;
    }
  };
  const isMissing = (status: number) => status === 404;
  const isConflict = (status: number) => status === 409;

  /** By name in the administrator's domain: the service filters, and the caller checks that it did. */
  const findByName = async <T extends { readonly name: string }>(
    kind: "projects" | "users",
    name: string,
    signal: AbortSignal,
  ): Promise<T | undefined> => {
    const { domainId } = await admin(signal);
    const query = new URLSearchParams({ name, domain_id: domainId });
    const body = (await (await call("GET", `/${kind}?${query.toString()}`, signal)).json()) as Record<string, T[]>;
    return body[kind]?.find((each) => each.name === name);
  };
  const create = async <T>(kind: "project" | "user", fields: object, signal: AbortSignal): Promise<T | undefined> => {
    const { domainId } = await admin(signal);
    const body = { [kind]: { ...fields, domain_id: domainId, enabled: true } };
    const response = await call("POST", `/${kind}s`, signal, body, isConflict);
    const made = (await response.json()) as Record<string, T>;
    return response.status === 409 ? undefined : made[kind];
  };
  const remove = async (path: string, signal: AbortSignal) => {
    await (await call("DELETE", path, signal, undefined, isMissing)).arrayBuffer();
  };
  const segment = encodeURIComponent;
  const ec2Path = ({ userId }: KeystoneToken) => `/users/${segment(userId)}/credentials/OS-EC2`;

  return {
    admin,
    forProject: (projectId, user, signal) => logIn(user ?? administrator, { project: { id: projectId } }, signal),
    findProject: (name, signal) => findByName("projects", name, signal),
    createProject: (project, signal) => create("project", project, signal),
    deleteProject: (id, signal) => remove(`/projects/${segment(id)}`, signal),
    findUser: (name, signal) => findByName("users", name, signal),
    createUser: (user, signal) => create("user", user, signal),
    changeUser: async (id, user, signal) => {
      await (await call("PATCH", `/users/${segment(id)}`, signal, { user })).arrayBuffer();
    },
    deleteUser: (id, signal) => remove(`/users/${segment(id)}`, signal),
    grantRole: async (project, user, role, signal) => {
      const path = `/projects/${segment(project)}/users/${segment(user)}/roles/${segment(role)}`;
      await (await call("PUT", path, signal)).arrayBuffer();
    },
    listEc2: async (user, signal) => {
      const response = await callAs(user, "GET", ec2Path(user), signal);
      const body = (await response.json()) as { credentials?: readonly Ec2Credential[] };
      return body.credentials ?? [];
    },
    createEc2: async (user, project, signal) => {
      const response = await callAs(user, "POST", ec2Path(user), signal, { body: { tenant_id: project } });
      return ((await response.json()) as { credential: Ec2Credential }).credential;
    },
    deleteEc2: async (user, access, signal) => {
      const path = `${ec2Path(user)}/${segment(access)}`;
      await (await callAs(user, "DELETE", path, signal, { expected: 404 })).arrayBuffer();
    },
  };
}

interface TokenBody {
  readonly user: { readonly id: string };
  readonly expires_at: string;
  readonly domain?: { readonly id: string };
  readonly project?: { readonly id: string; readonly domain: { readonly id: string } };
  readonly catalog?: readonly {
    readonly type: string;
    readonly endpoints: readonly { readonly interface: string; readonly url: string }[];
  }[];
}

/** What the service says, in a sentence. Refusals of the account do not pass by themselves; faults of the service do. */
async function toRefusal(response: Response, what: string): Promise<Error> {
  const text = (await response.text()).slice(0, 2000);
  let detail = text.slice(0, 300);
  try {
    detail = (JSON.parse(text) as { error?: { message?: string } }).error?.message ?? detail;
  } catch {
    // Not the service's own answer: something between us and it.
  }
  const message = `the cloud's identity service answers ${response.status} to ${what}: ${detail}`;
  if (response.status === 401) {
    return new StorageRefusal(
      "CloudLoginRefused",
      `${message}; check CLOUD_USERNAME, CLOUD_PASSWORD, CLOUD_DOMAINNAME`,
    );
  }
  return response.status === 429 || response.status >= 500
    ? new Error(message)
    : new StorageRefusal("CloudRefused", message);
}
