import assert from "node:assert/strict";
import { request } from "node:https";

import { type TestCluster, createTestCluster, dummyServiceOnly } from "@swath/testing";
import { launchChromium } from "@swath/testing/chromium";
import { type Browser, type BrowserContext, type Page } from "playwright-core";

/** Password of the administrator and the test users of a deployment on loopback. */
export const PASSWORD = "changeme";

/** A deployed portal, as people with browsers meet it. */
export interface PortalFixture {
  readonly url: (service: string, path?: string) => string;
  /** A browser of somebody's own. `requests` are the addresses that its pages asked for. */
  readonly open: (options?: { readonly bypassCSP?: boolean }) => Promise<BrowserUser>;
  /** A request without a browser, with any headers. */
  readonly send: (service: string, path: string, options?: AskOptions) => Promise<{ status: number; body: string }>;
  /** What the console of any page said that is a fault, and that the test did not expect. */
  readonly findFaults: (expected: readonly RegExp[]) => readonly string[];
  readonly close: () => Promise<void>;
}

/** Milliseconds: nothing that is waited for is a test of speed, and machines may be slow. */
const TIMEOUT = 120_000;

/** What browsers say of drawing without a graphics processor, and of network interfaces that come and go beside them. */
const OF_THIS_MACHINE = /GL Driver Message|GPU stall|WebGL context|CONTEXT_LOST_WEBGL|swiftshader|ERR_NETWORK_CHANGED/i;

interface AskOptions {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface BrowserUser {
  readonly context: BrowserContext;
  readonly page: Page;
  readonly requests: readonly string[];
  readonly logIn: (username: string, path?: string) => Promise<void>;
}

/** The variables of a deployment of the portal with what its pages are about. */
const PORTAL = {
  ...dummyServiceOnly,
  REQUIRE_DUMMY_SERVICE: "false",
  REQUIRE_IDENTITY_SERVICE: "true",
  REQUIRE_WORKSPACE_API: "true",
  WORKSPACE_CREATION: "self-service",
  REQUIRE_OBJSTORE: "true",
  REQUIRE_ADES: "true",
  REQUIRE_PORTAL: "true",
};

/** Deploys a platform with a portal, and opens a browser. `close` deletes it, also when only half of it came to be. */
export async function deployPortal(
  variables: Readonly<Record<string, string>> = {},
): Promise<{ readonly cluster: TestCluster; readonly fixture: PortalFixture; readonly close: () => Promise<void> }> {
  const cluster = await createTestCluster({ ...PORTAL, ...variables });
  try {
    const { status, stdout, stderr } = await cluster.apply();
    assert.equal(status, 0, stdout + stderr);
    const fixture = await openPortal(cluster);
    const close = async () => {
      await fixture.close();
      await cluster.close();
    };
    return { cluster, fixture, close };
  } catch (error) {
    await cluster.close();
    throw error;
  }
}

export async function openPortal(cluster: TestCluster): Promise<PortalFixture> {
  const tlsPort = /,(\d+):443/.exec(cluster.env["LOCALCLUSTER_EXTRA_OPTIONS"] ?? "")?.[1] ?? "443";
  const url = (service: string, path = "/") => `https://${service}.${cluster.domain}:${tlsPort}${path}`;
  const browser: Browser = await launchChromium();
  const faults: string[] = [];
  return {
    url,
    findFaults: (expected) =>
      faults.filter((fault) => ![OF_THIS_MACHINE, ...expected].some((pattern) => pattern.test(fault))),
    open: async ({ bypassCSP = false } = {}) => {
      const context = await browser.newContext({
        ignoreHTTPSErrors: true,
        bypassCSP,
        acceptDownloads: true,
        locale: "en-US",
        viewport: { width: 1280, height: 860 },
      });
      context.setDefaultTimeout(TIMEOUT);
      await context.grantPermissions(["clipboard-read", "clipboard-write"], { origin: url("portal", "") });
      const requests: string[] = [];
      context.on("request", (request) => requests.push(request.url()));
      context.on("console", (message) => {
        if (["error", "warning"].includes(message.type())) {
          faults.push(`${message.type()}: ${message.text()} ${message.location().url}`);
        }
      });
      context.on("weberror", (found) => faults.push(`thrown: ${found.error().stack ?? found.error().message}`));
      const page = await context.newPage();
      return { context, page, requests, logIn: (name, path) => logIn(page, url("portal", path ?? "/"), name) };
    },
    send: (service, path, options) => send(Number(tlsPort), new URL(url(service)).host, path, options),
    close: () => browser.close(),
  };
}

function send(
  port: number,
  host: string,
  path: string,
  { method = "GET", headers = {}, body = "" }: AskOptions = {},
): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    const outgoing = request(
      {
        host: "127.0.0.1",
        port,
        servername: host.split(":", 1)[0] ?? host,
        rejectUnauthorized: false,
        method,
        path,
        headers: { host, ...headers },
        agent: false,
      },
      (response) => {
        let text = "";
        response.setEncoding("utf8");
        response.on("data", (chunk: string) => (text += chunk));
        response.on("end", () => resolve({ status: response.statusCode ?? 0, body: text }));
        response.on("error", reject);
      },
    );
    outgoing.on("error", reject);
    outgoing.end(body);
  });
}

/** Fills in the login page of the identity service, and sends it. */
export async function fillInLogin(page: Page, username: string): Promise<void> {
  await page.getByLabel("User name or e-mail").fill(username);
  await page.getByLabel("Password").fill(PASSWORD);
  await page.getByLabel("Password").press("Enter");
}

async function logIn(page: Page, address: string, username: string): Promise<void> {
  await page.goto(address);
  await page.getByRole("link", { name: "Log in" }).click();
  await fillInLogin(page, username);
  await page.waitForURL(address);
  await page.getByRole("button", { name: /^Logged in as/ }).waitFor();
}

/** Ends every login of somebody at the identity service, as an administrator does. */
export async function endLogins(fixture: PortalFixture, username: string): Promise<void> {
  const headers = { authorization: `Bearer ${await administratorToken(fixture)}` };
  const found = await fixture.send("identity", `/admin/realms/master/users?username=${username}&exact=true`, {
    headers,
  });
  const [user] = JSON.parse(found.body) as readonly { readonly id: string }[];
  const path = `/admin/realms/master/users/${user?.id}/logout`;
  const { status } = await fixture.send("identity", path, { method: "POST", headers });
  assert.equal(status, 204);
}

/** An access token for the administration API of the identity service. */
export async function administratorToken(fixture: PortalFixture): Promise<string> {
  const { body } = await fixture.send("identity", "/realms/master/protocol/openid-connect/token", {
    method: "POST",
    headers: { "content-type": "application/x-www-form-urlencoded" },
    body: `grant_type=password&client_id=admin-cli&username=admin&password=${PASSWORD}`,
  });
  return (JSON.parse(body) as { access_token: string }).access_token;
}
