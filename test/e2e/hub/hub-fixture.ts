import { existsSync } from "node:fs";
import { request } from "node:http";

import { findIsolation } from "@swath/isolation";
import { type TestCluster, createTestCluster } from "@swath/testing";
import { launchChromium } from "@swath/testing/chromium";
import { type Browser, type BrowserContext, type Page } from "playwright-core";

export const PASSWORD = "changeme";

/** Why servers cannot run on this machine, where they cannot. */
export function skipReason(...programs: readonly (readonly [path: string, debianPackage: string])[]): string | false {
  const isolation = findIsolation();
  if (!isolation.works) {
    return `${isolation.reason}; ${isolation.command}`;
  }
  const missing = programs.filter(([path]) => !existsSync(path));
  return missing.length === 0
    ? false
    : `needs ${missing.map(([path]) => path).join(", ")} (apt-get install ${missing.map(([, name]) => name).join(" ")})`;
}

export const needsNotebook = ["/usr/bin/jupyter-notebook", "jupyter-notebook"] as const;
export const needsSingleuser = ["/usr/bin/jupyterhub-singleuser", "jupyterhub"] as const;

export interface HubResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- answers are looked into freely
  readonly body: any;
}

/** A deployment with the hub, and who uses it. */
export interface HubFixture {
  readonly cluster: TestCluster;
  readonly hubHost: string;
  readonly hubUrl: string;
  /** A request through the ingress; `user`'s access token of the platform goes with it. */
  readonly send: (method: string, url: string, options?: SendOptions) => Promise<HubResponse>;
  /** The hub's API as a user. */
  readonly api: (user: string, method: string, path: string, body?: unknown) => Promise<HubResponse>;
  readonly tokenOf: (user: string) => Promise<string>;
  readonly until: (what: string, check: () => Promise<boolean>) => Promise<void>;
  readonly close: () => Promise<void>;
}

interface SendOptions {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

const OFF = [
  "RESOURCE_CATALOGUE",
  "DATA_ACCESS",
  "REGISTRATION_API",
  "WORKSPACE_API",
  "REGISTRY",
  "PORTAL",
  "ADES",
  "OBJSTORE",
];

export async function startHub(more: NodeJS.ProcessEnv = {}): Promise<HubFixture> {
  const cluster = await createTestCluster({
    USE_TLS: "false",
    // Without an engine for containers the hub needs nothing of root's, and runs as an account of its own.
    CONTAINER_ENGINE: "none",
    ...Object.fromEntries(OFF.map((name) => [`REQUIRE_${name}`, "false"])),
    ...more,
  });
  const { status, stderr } = await cluster.apply();
  if (status !== 0) {
    await cluster.close();
    throw new Error(stderr);
  }
  const hubHost = `application-hub.${cluster.domain}:${cluster.port}`;
  const hubUrl = `http://${hubHost}`;
  const tokens = new Map<string, string>();
  const send: HubFixture["send"] = (method, address, { headers = {}, body } = {}) =>
    new Promise((resolve, reject) => {
      const url = new URL(address, hubUrl);
      const data = body === undefined ? undefined : typeof body === "string" ? body : JSON.stringify(body);
      const outgoing = request(
        {
          host: "127.0.0.1",
          port: cluster.port,
          method,
          path: `${url.pathname}${url.search}`,
          agent: false,
          headers: {
            host: url.host,
            ...(data !== undefined && {
              "content-type": "application/json",
              "content-length": String(Buffer.byteLength(data)),
            }),
            ...headers,
          },
        },
        (response) => {
          let text = "";
          response.setEncoding("utf8");
          response.on("data", (part: string) => (text += part));
          response.on("end", () =>
            resolve({ status: response.statusCode ?? 0, headers: response.headers, text, body: readJson(text) }),
          );
          response.on("error", reject);
        },
      );
      outgoing.on("error", reject);
      outgoing.end(data);
    });
  const tokenOf = async (user: string): Promise<string> => {
    const known = tokens.get(user);
    if (known !== undefined) {
      return known;
    }
    const form = new URLSearchParams({
      grant_type: "password",
      client_id: "admin-cli",
      username: user,
      password: PASSWORD,
      scope: "openid",
    });
    const { body } = await send(
      "POST",
      `http://identity.${cluster.domain}:${cluster.port}/realms/master/protocol/openid-connect/token`,
      {
        headers: { "content-type": "application/x-www-form-urlencoded" },
        body: form.toString(),
      },
    );
    tokens.set(user, body.access_token);
    return body.access_token;
  };
  return {
    cluster,
    hubHost,
    hubUrl,
    send,
    tokenOf,
    api: async (user, method, path, body) =>
      send(method, `/hub/api${path}`, { headers: { authorization: `Bearer ${await tokenOf(user)}` }, body }),
    until: async (what, check) => {
      const deadline = Date.now() + 60_000;
      while (!(await check())) {
        if (Date.now() > deadline) {
          throw new Error(`not within a minute: ${what}`);
        }
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
    },
    close: () => cluster.close(),
  };
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // A page.
    return undefined;
  }
}

/** A browser whose pages tell what they asked for. */
export interface HubBrowser {
  readonly browser: Browser;
  readonly open: (
    user: string,
  ) => Promise<{ readonly context: BrowserContext; readonly page: Page; readonly origins: ReadonlySet<string> }>;
}

export async function startBrowser({ hubUrl }: Pick<HubFixture, "hubUrl">): Promise<HubBrowser> {
  const browser = await launchChromium();
  return {
    browser,
    open: async (user) => {
      const context = await browser.newContext({ bypassCSP: false, locale: "en-US" });
      context.setDefaultTimeout(60_000);
      const page = await context.newPage();
      const origins = new Set<string>();
      context.on("request", (each) => origins.add(new URL(each.url()).origin));
      await page.goto(`${hubUrl}/`);
      await page.getByLabel("User name or e-mail").fill(user);
      await page.getByLabel("Password").fill(PASSWORD);
      await page.getByLabel("Password").press("Enter");
      await page.getByRole("heading", { name: "Start a server" }).waitFor();
      return { context, page, origins };
    },
  };
}
