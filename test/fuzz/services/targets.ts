import type { Fetch } from "../../../cli/targets/deployment-fetch.ts";
import { type Credential, anonymous, basic, bearer, logInBrowser, session, signature } from "./credentials.ts";
import { type ApiDocument, type Operation, listOperations } from "./make-request.ts";
import { HUB, OAUTH, OCI, S3, type Vocabulary } from "./words.ts";

/** What hostile requests are made for: a part of a service that has a host of its own. */
export interface Target {
  readonly service: string;
  readonly url: string;
  readonly operations: readonly Operation[];
  /** Logs in anew: tokens expire, and hostile requests end sessions. With the first credential, things are deleted. */
  readonly logIn: () => Promise<readonly Credential[]>;
  readonly vocabulary: Vocabulary;
  /** Values of parameters that are made for the purpose. */
  readonly kept: Readonly<Record<string, string>>;
}

export interface Platform {
  readonly send: Fetch;
  readonly urlOf: (host: string) => string;
  /** @returns an access token */
  readonly logIn: (user: string) => Promise<string>;
  readonly variant: "A" | "B";
}

/** Hosts that have another name in variant B. */
const HOSTS_OF_B: Readonly<Record<string, string>> = { identity: "auth", "application-hub": "pde" };

export function createPlatform(
  { domain, port }: { readonly domain: string; readonly port: number },
  send: Fetch,
  variant: "A" | "B" = "A",
): Platform {
  const names = variant === "B" ? HOSTS_OF_B : {};
  const urlOf = (host: string) => `http://${names[host] ?? host}.${domain}:${port}`;
  return { send, urlOf, logIn: (user) => logIn(send, urlOf("identity"), user), variant };
}

/** Makes the user of `USERS` that a deployment of variant B has not by itself. */
export async function createUser({ send, urlOf, logIn }: Platform): Promise<void> {
  const response = await send(`${urlOf("identity")}/admin/realms/master/users`, {
    method: "POST",
    headers: { authorization: `Bearer ${await logIn("admin")}`, "content-type": "application/json" },
    body: JSON.stringify({
      username: USERS[0],
      enabled: true,
      credentials: [{ type: "password", value: PASSWORD, temporary: false }],
    }),
  });
  if (!response.ok) {
    throw new Error(`${USERS[0]} was not made: ${response.status} ${await response.text()}`);
  }
}

/** A user and the operator: without an operator many requests would end at their first check. */
export const USERS = ["eric", "admin"] as const;
const PASSWORD = "changeme";
const ROOT = "swath";

/** What of a pod can be sent hostile requests, and why not where there is nothing. */
export interface FoundTargets {
  readonly targets: readonly Target[];
  readonly missing?: string;
}

/** Pods that take no requests of clients, or none in HTTP; `test/fuzz/README.md` says what else looks at each. */
export const WITHOUT_TARGETS: ReadonlySet<string> = new Set([
  "bucket-operator",
  "dummy-service",
  "ingress",
  "postgres",
  "registrar",
  "workspace-reconciler",
]);

/**
 * The targets of a pod. A service that hides what it serves is a finding: it would never be fuzzed.
 * @param served what `/routes` of its management listener tells; undefined where it has no such listener
 */
export async function findTargets(
  platform: Platform,
  workload: string,
  served: ApiDocument | undefined,
): Promise<FoundTargets> {
  if (WITHOUT_TARGETS.has(workload)) {
    return { targets: [] };
  }
  const routes = listOperations(served ?? {}).filter(([, path]) => !HIDDEN.test(path));
  const documented = listOperations(await readDocument(platform, workload));
  const known = new Set(documented.map(toKey));
  const operations = [...documented, ...routes.filter((operation) => !known.has(toKey(operation)))];
  const prepare = Object.hasOwn(SERVICES, workload) ? SERVICES[workload] : undefined;
  if (operations.length === 0) {
    return { targets: [], missing: "tells no operation that it serves, in /openapi.json or in /routes" };
  }
  if (prepare === undefined && documented.length === 0) {
    return {
      targets: [],
      missing: `has no OpenAPI document, and targets.ts no preparation for its ${operations.length} operations`,
    };
  }
  const plain = async () => {
    const logIn = () => Promise.all(USERS.map(async (user) => bearer(await platform.logIn(user))));
    return [{ service: workload, url: platform.urlOf(workload), operations, logIn, vocabulary: {}, kept: {} }];
  };
  const targets = await (prepare ?? plain)(platform, operations);
  return { targets: targets.filter((target) => target.operations.length > 0) };
}

/** What only other services reach, and files of pages. */
const HIDDEN = /^\/(?:internal\/|docs\b|healthz$|assets\/)|^\*|^\/?\{rest\}$/;
const toKey = ([method, path]: Operation) => `${method} ${path.replaceAll(/\{[^}]*\}/g, "{}").replace(/\/$/, "")}`;

async function readDocument({ send, urlOf }: Platform, workload: string): Promise<ApiDocument> {
  const response = await send(`${urlOf(workload)}/openapi.json`).catch(() => undefined);
  // Pages answer any path.
  return response?.ok === true && response.headers.get("content-type")?.includes("json") === true
    ? ((await response.json()) as ApiDocument)
    : {};
}

type Prepare = (platform: Platform, operations: readonly Operation[]) => Promise<readonly Target[]>;

/** Services whose protocols are not in an OpenAPI document. */
const SERVICES: Readonly<Record<string, Prepare>> = {
  identity: async ({ send, urlOf, logIn }, operations) => {
    const admin = bearer(await logIn("admin"));
    const url = urlOf("identity");
    const headers = { ...(await admin(NOTHING, url)), "content-type": "application/json" };
    const body = JSON.stringify({ realm: "fuzz", enabled: true });
    await send(`${url}/admin/realms`, { method: "POST", headers, body });
    const logInAll = async () => [
      bearer(await logIn("admin")),
      bearer(await logIn("eric")),
      anonymous,
      session(await logInBrowser(send, `${url}/realms/master/account`, "eric", PASSWORD)),
    ];
    return [{ service: "identity", url, operations, logIn: logInAll, vocabulary: OAUTH, kept: { realm: "fuzz" } }];
  },
  gatekeeper: async ({ urlOf, logIn, variant }, operations) => [
    ...(variant === "B"
      ? [
          {
            service: "gatekeeper",
            url: urlOf("ades-pepapi"),
            operations: ENFORCEMENT,
            logIn: async () => [bearer(await logIn("eric")), bearer(await logIn("admin")), anonymous],
            vocabulary: OAUTH,
            kept: {},
          },
        ]
      : []),
    {
      service: "gatekeeper",
      // Any host that it protects.
      url: urlOf("workspace-api"),
      operations: [...operations, ["get", "/{rest}", {}], ["post", "/{rest}", {}]],
      logIn: async () => [anonymous, bearer(await logIn("eric"))],
      vocabulary: OAUTH,
      kept: {},
    },
  ],
  objstore: async ({ send, urlOf, logIn }, operations) => {
    const root = signature(ROOT, PASSWORD);
    const url = urlOf("objstore");
    for (const path of ["/fuzz", "/fuzz/a"]) {
      const request = { ...NOTHING, method: "PUT", path };
      await send(`${url}${path}`, { method: "PUT", headers: await root(request, url) });
    }
    const isConsole = ([, path]: Operation) => path.startsWith("/api/");
    const kept = { bucket: "fuzz", key: "a" };
    return [
      {
        service: "objstore",
        url,
        operations: operations.filter((operation) => !isConsole(operation)),
        logIn: async () => [root, root, anonymous],
        vocabulary: S3,
        kept,
      },
      {
        service: "objstore-console",
        url: urlOf("objstore-console"),
        operations: operations.filter(isConsole),
        logIn: async () => [basic(ROOT, PASSWORD), bearer(await logIn("eric")), anonymous],
        vocabulary: {},
        kept,
      },
    ];
  },
  registry: async ({ urlOf, logIn }, operations) => [
    {
      service: "registry",
      url: urlOf("registry"),
      operations,
      logIn: async () => [basic("admin", PASSWORD), bearer(await logIn("eric")), anonymous],
      vocabulary: OCI,
      kept: { name: "library/a", project: "library", reference: "latest" },
    },
  ],
  portal: async ({ send, urlOf }, operations) => [
    {
      service: "portal",
      url: urlOf("portal"),
      operations,
      logIn: async () => [
        ...(await Promise.all(
          USERS.map(async (user) => session(await logInBrowser(send, `${urlOf("portal")}/auth/login`, user, PASSWORD))),
        )),
        anonymous,
      ],
      vocabulary: { parameters: { ...OAUTH.parameters, prefix: ["a/"], key: ["a"], workspace: ["ws-eric"] } },
      kept: {},
    },
  ],
  "application-hub": async ({ send, urlOf, logIn }, operations) => [
    {
      service: "application-hub",
      url: urlOf("application-hub"),
      operations,
      logIn: async () => [
        bearer(await logIn("eric")),
        bearer(await logIn("admin")),
        session(await logInBrowser(send, `${urlOf("application-hub")}/hub/login`, "eric", PASSWORD)),
        anonymous,
      ],
      vocabulary: HUB,
      kept: {},
    },
  ],
  "application-hub-proxy": async ({ send, urlOf, logIn }, operations) => {
    const hub = urlOf("application-hub");
    const url = hub.replace("//", `//eric--${SERVER}.`);
    // Files alone: no program runs for it.
    const response = await send(`${hub}/hub/api/users/eric/servers/${SERVER}`, {
      method: "POST",
      headers: { authorization: `Bearer ${await logIn("eric")}`, "content-type": "application/json" },
      body: JSON.stringify({ profile: "jupyterlite" }),
    });
    if (!response.ok) {
      throw new Error(`the server for the hub's proxy did not start: ${response.status} ${await response.text()}`);
    }
    return [
      {
        service: "application-hub-proxy",
        url,
        operations: [...operations, ["get", "/.swath/enter?{rest}", {}], ["get", "/.swath/{rest}", {}]],
        logIn: async () => [
          session(await logInBrowser(send, `${url}/`, "eric", PASSWORD)),
          bearer(await logIn("eric")),
          anonymous,
        ],
        vocabulary: HUB,
        kept: {},
      },
    ];
  },
};

const SERVER = "fuzz";

/** What the hosts of variant B's enforcement point take (release 1.3). */
const ENFORCEMENT: readonly Operation[] = [
  ["get", "/authorize", {}],
  ["get", "/resources", {}],
  ["post", "/resources", {}],
  ...["get", "put", "patch", "delete", "head"].map((method): Operation => [method, "/resources/{id}", {}]),
];

const NOTHING = { method: "POST", path: "/", headers: {}, type: undefined, body: undefined };

async function logIn(send: Fetch, url: string, username: string): Promise<string> {
  const form = { client_id: "admin-cli", grant_type: "password", username, password: "changeme" };
  const response = await send(`${url}/realms/master/protocol/openid-connect/token`, {
    method: "POST",
    body: new URLSearchParams(form),
  });
  const { access_token: token } = (await response.json()) as { access_token?: string };
  if (token === undefined) {
    throw new Error(`the login of ${username} failed with ${response.status}`);
  }
  return token;
}
