import { findFreePort } from "@swath/testing";
import { launchChromium, skipWithoutChromium } from "@swath/testing/chromium";
import { type Browser, type BrowserContext, type Page } from "playwright-core";

import { buildWebPages } from "../../cli/web-pages.ts";
import { CLIENTS, PASSWORD, type TestIdentity, startIdentity } from "../../components/identity/test/start-identity.ts";
import { ROOT, startObjstore } from "../../components/objstore/test/start-objstore.ts";

export const skip = skipWithoutChromium;

/** An object store with its console, an identity service to log in with, and a browser. */
export interface ConsoleFixture {
  readonly identity: TestIdentity;
  readonly store: Awaited<ReturnType<typeof startObjstore>>;
  readonly s3Url: string;
  readonly browser: Browser;
  readonly context: BrowserContext;
  /** Everything that pages asked for, by origin. */
  readonly response: ReadonlySet<string>;
  /** What the pages' own policy forbade, and what threw. */
  readonly faults: readonly string[];
  readonly openPage: (from?: BrowserContext) => Promise<Page>;
  /** Opens a page of the console; again where the machine's network changed meanwhile. */
  readonly visit: (page: Page, path: string) => Promise<void>;
  /** A call of the administration API as the root user. */
  readonly administer: (path: string, method: string, body?: object) => Promise<Response>;
  readonly close: () => Promise<void>;
}

export async function startConsoleFixture(): Promise<ConsoleFixture> {
  await buildWebPages({ components: ["objstore"], stdout: process.stdout });
  const [http, console] = [await findFreePort(), await findFreePort()];
  const s3Url = `http://127.0.0.1:${http}`;
  const consoleUrl = `http://127.0.0.1:${console}`;
  const identity = await startIdentity();
  const client = { clientId: "objstore-console", name: "Console", redirectUris: [`${consoleUrl}/api/login/callback`] };
  await identity.setUpAgain([...CLIENTS, client]);
  const store = await startObjstore(
    { PUBLIC_URL: s3Url, CONSOLE_URL: consoleUrl, IDENTITY_ISSUER: identity.issuer },
    { http, console },
  );
  const browser = await launchChromium();
  const context = await browser.newContext({
    viewport: { width: 1280, height: 800 },
    acceptDownloads: true,
    // Numbers are written as where the browser's user lives.
    locale: "en-US",
  });
  context.setDefaultTimeout(120_000);
  const response = new Set<string>();
  const faults: string[] = [];
  return {
    identity,
    store,
    s3Url,
    browser,
    context,
    response,
    faults,
    openPage: async (from = context) => {
      const page = await from.newPage();
      page.on("request", (request) => {
        const url = new URL(request.url());
        if (url.protocol.startsWith("http")) {
          response.add(url.origin);
        }
      });
      page.on("pageerror", (error) => faults.push(String(error)));
      page.on("console", (message) => {
        if (/content security policy/i.test(message.text())) {
          faults.push(message.text());
        }
      });
      return page;
    },
    visit: async (page, path) => {
      for (let attempt = 1; ; attempt += 1) {
        try {
          await page.goto(`${consoleUrl}${path}`);
          await page.locator("h1").first().waitFor({ timeout: 40_000 });
          return;
        } catch (error) {
          if (attempt === 3) {
            throw error;
          }
        }
      }
    },
    administer: (path, method, body) =>
      fetch(`${consoleUrl}${path}`, {
        method,
        headers: {
          authorization: `Basic ${Buffer.from(`${ROOT.accessKeyId}:${ROOT.secretAccessKey}`).toString("base64")}`,
          ...(body && { "content-type": "application/json" }),
        },
        ...(body && { body: JSON.stringify(body) }),
      }),
    close: async () => {
      await browser.close();
      await store.stop();
      await identity.close();
    },
  };
}

/** Fills in the console's sign-in page. */
export async function signIn(page: Page, secret = ROOT.secretAccessKey): Promise<void> {
  await page.getByLabel("Access key").fill(ROOT.accessKeyId);
  await page.getByRole("textbox", { name: "Secret key" }).fill(secret);
  await page.keyboard.press("Enter");
}

/** By the platform's login, from the console's sign-in page. */
export async function logIn(page: Page, user: string): Promise<void> {
  await page.getByRole("link", { name: "Log in with the platform" }).click();
  await page.getByLabel("User name or e-mail").fill(user);
  await page.getByLabel("Password").fill(PASSWORD);
  await page.getByLabel("Password").press("Enter");
}
