import { type TestServer, startTestServer } from "@swath/postgres/server";
import { createLogger } from "@swath/service";
import { findFreePort } from "@swath/testing";
import type { Server } from "node:http";

import type { IdentityContext } from "../context.ts";
import { setUp } from "../bootstrap/set-up.ts";
import { buildIdentity } from "../build.ts";
import { createPasswordHasher } from "../login/hasher.ts";
import { openIdentityDatabase } from "../store/database.ts";
import type { DeclaredClient } from "../bootstrap/declared-clients.ts";

export const PASSWORD = "changeme";
export const SECRET = "a:secret%with signs";

/** Clients of the tests: one that protects folders of users, a public one for browsers, one with an exact redirect URI. */
export const CLIENTS: readonly DeclaredClient[] = [
  {
    clientId: "dummy-service",
    name: "Dummy service",
    secret: SECRET,
    resources: ["eric", "bob"].map((user) => ({ name: user, uris: [`/${user}/*`], users: [user] })),
  },
  {
    clientId: "portal",
    name: "Portal",
    redirectUris: ["http://127.0.0.1/callback", "http://portal.platform.test/*"],
    tokensForPlatform: true,
  },
  { clientId: "hub", name: "Hub", secret: SECRET, redirectUris: ["https://hub.platform.test/callback"] },
];

export interface TestIdentity {
  readonly url: string;
  readonly issuer: string;
  readonly context: IdentityContext;
  readonly postgres: TestServer;
  /** What the service logged, line by line. */
  readonly logged: readonly string[];
  readonly setUpAgain: (clients?: readonly DeclaredClient[]) => Promise<void>;
  /** A request below the service; `form` makes it a POST. */
  readonly send: (
    path: string,
    init?: AskInit,
  ) => Promise<{ status: number; headers: Headers; body: Body; text: string }>;
  /** The answer of the password grant. */
  readonly logIn: (username: string, password?: string, more?: Record<string, string>) => Promise<Body>;
  readonly close: () => Promise<void>;
}

// oxlint-disable-next-line typescript/no-explicit-any -- answers are looked into freely
type Body = any;
interface AskInit {
  readonly method?: string;
  readonly form?: Readonly<Record<string, string>>;
  readonly json?: unknown;
  readonly bearer?: string;
  readonly basic?: readonly [string, string];
  readonly headers?: Readonly<Record<string, string>>;
}

/** A whole identity service with its own PostgreSQL, on a free port of the loopback interface. */
export async function startIdentity({
  login = false,
  decisionPoint = true,
  decisions = "callers",
  registration = "off",
  host = "127.0.0.1",
  smtpUrl,
}: {
  readonly registration?: string;
  /** Name that browsers know the service by: passkeys need one. */
  readonly host?: string;
  readonly login?: boolean;
  readonly decisionPoint?: boolean;
  /** Whom the decision point answers: `callers` or `open`. */
  readonly decisions?: string;
  readonly smtpUrl?: string;
} = {}): Promise<TestIdentity> {
  const postgres = await startTestServer();
  const logged: string[] = [];
  const logger = createLogger("identity", "debug", { write: (line: string) => void logged.push(line) });
  const setUpAgain = async (clients = CLIENTS) => {
    const database = await openIdentityDatabase(postgres.url, () => {}, 4);
    try {
      await setUp({
        pool: database.pool,
        logger,
        hasher: createPasswordHasher(2),
        realm: "master",
        adminUser: "admin",
        adminPassword: PASSWORD,
        adminClient: "admin-cli",
        loginScopes: login,
        testUsers: ["eric", "bob", "alice"].map((username) => ({ username, password: PASSWORD })),
        clients,
      });
    } finally {
      await database.close();
    }
  };
  await setUpAgain();

  const port = await findFreePort();
  const url = `http://${host}:${port}`;
  const service = await buildIdentity({
    settings: {
      DATABASE_URL: postgres.url,
      PUBLIC_URL: url,
      PLATFORM_DOMAIN: "platform.test",
      DATABASE_CONNECTIONS: 16,
      HASH_CONCURRENCY: 2,
      CLEAN_UP_INTERVAL: 3600,
      LOGIN_PROVIDER: login ? "oxauth" : undefined,
      LOGIN_REALM: "master",
      LOGIN_REGISTRATION: "open",
      DEMO_PASSWORD: true,
      DECISION_POINT: decisionPoint,
      DECISIONS: decisions,
      DECISION_ALLOW_PRIVATE: "127.0.0.1",
      CLIENT_ALLOW_PRIVATE: "127.0.0.1",
      CLIENT_REGISTRATION: registration,
      USER_PROFILE: login,
      SMTP_URL: smtpUrl,
      SMTP_FROM: undefined,
      REMOVAL_DELAY: 14 * 86_400,
    },
    logger,
  });
  const server = service.servers["http"] as Server;
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));

  const send: TestIdentity["send"] = async (path, { method, form, json, bearer, basic, headers } = {}) => {
    const response = await fetch(`${url}${path}`, {
      method: method ?? (form !== undefined || json !== undefined ? "POST" : "GET"),
      redirect: "manual",
      headers: {
        ...(json !== undefined && { "content-type": "application/json" }),
        ...(bearer !== undefined && { authorization: `Bearer ${bearer}` }),
        ...(basic && {
          authorization: `Basic ${Buffer.from(basic.map(encodeURIComponent).join(":")).toString("base64")}`,
        }),
        ...headers,
      },
      ...(form && { body: new URLSearchParams(form) }),
      ...(json !== undefined && { body: JSON.stringify(json) }),
    });
    const text = await response.text();
    const isJson = response.headers.get("content-type")?.includes("json") === true;
    return { status: response.status, headers: response.headers, text, body: isJson ? JSON.parse(text) : undefined };
  };
  return {
    url,
    issuer: login ? url : `${url}/realms/master`,
    context: service.context,
    postgres,
    logged,
    setUpAgain,
    send,
    logIn: async (username, password = PASSWORD, more = {}) =>
      (
        await send("/realms/master/protocol/openid-connect/token", {
          form: {
            grant_type: "password",
            client_id: "admin-cli",
            username,
            password,
            scope: "openid profile email",
            ...more,
          },
        })
      ).body,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await service.close?.();
      await postgres.close();
    },
  };
}
