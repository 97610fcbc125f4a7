import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { launchChromium, skipWithoutChromium } from "@swath/testing/chromium";
import { type Browser, type BrowserContext, type Page } from "playwright-core";

import { buildWebPages } from "../../cli/web-pages.ts";
import { CLIENTS, PASSWORD, type TestIdentity, startIdentity } from "../../components/identity/test/start-identity.ts";
import {
  type RegistryClient,
  createClient,
  createProject,
  digestOf,
  imageOf,
} from "../../components/registry/test/client.ts";
import { ADMIN_PASSWORD, type TestRegistry, startTestRegistry } from "../../components/registry/test/start-registry.ts";
import { checkAccessibility, tabTo } from "./browser-assertions.ts";
import { pushImageWithHistory, pushPackage } from "./registry-content.ts";

const skip = skipWithoutChromium;

let identity: TestIdentity;
let registry: TestRegistry;
let admin: RegistryClient;
let browser: Browser;
let context: BrowserContext;
const faults: string[] = [];

before(async () => {
  if (skip !== false) {
    return;
  }
  await buildWebPages({ components: ["registry"], stdout: process.stdout });
  identity = await startIdentity();
  registry = await startTestRegistry({ IDENTITY_ISSUER: identity.issuer });
  const client = { clientId: "registry", name: "Registry", redirectUris: [`${registry.url}/api/login/callback`] };
  await identity.setUpAgain([...CLIENTS, client]);
  admin = createClient(registry.url);
  await createProject(admin, "ws-eric", { storage_limit: 1_000_000 });
  await createProject(admin, "closed");
  await pushImageWithHistory(admin);
  await pushPackage(admin);
  browser = await launchChromium();
  context = await openContext();
});
after(async () => {
  await browser?.close();
  await registry?.close();
  await identity?.close();
});

async function openContext(options: object = {}): Promise<BrowserContext> {
  const made = await browser.newContext({
    viewport: { width: 1280, height: 900 },
    locale: "en-US",
    bypassCSP: true,
    ...options,
  });
  made.setDefaultTimeout(60_000);
  return made;
}

async function openPage(from: BrowserContext = context): Promise<Page> {
  const page = await from.newPage();
  page.on("pageerror", (error) => faults.push(String(error)));
  page.on("request", (request) => {
    const { origin, protocol } = new URL(request.url());
    if (protocol.startsWith("http") && origin !== registry.url && origin !== new URL(identity.url).origin) {
      faults.push(`asked ${request.url()}`);
    }
  });
  return page;
}

const visit = async (page: Page, path: string) => {
  await page.goto(`${registry.url}${path}`);
  await page.locator("h1").first().waitFor();
};

async function signIn(page: Page, password = ADMIN_PASSWORD): Promise<void> {
  await page.getByLabel("User").fill("admin");
  await page.getByRole("textbox", { name: "Password" }).fill(password);
  await page.keyboard.press("Enter");
}

const show = async (page: Page, name: string) => {
  const folder = process.env["SWATH_SCREENSHOTS"];
  if (folder !== undefined) {
    await page.screenshot({ path: `${folder}/registry-${name}.png`, fullPage: true });
  }
};

test(
  "in Chromium: the administrator signs in with the password, by keyboard, and sees projects",
  { skip },
  async () => {
    const page = await openPage();
    await visit(page, "/projects/ws-eric");
    await page.getByRole("heading", { name: "Log in" }).waitFor();
    await checkAccessibility(page, "sign-in");
    await signIn(page, "wrong");
    await page.getByText("The user name or the secret is wrong.").waitFor();
    await signIn(page);
    await page.getByRole("heading", { name: "ws-eric" }).waitFor();
    await page.getByRole("link", { name: "tools/ndvi" }).waitFor();
    await checkAccessibility(page, "project");
    await show(page, "project");
    await visit(page, "/");
    await page.getByRole("link", { name: "closed" }).waitFor();
    await checkAccessibility(page, "projects");
    await show(page, "projects");
    await tabTo(page, "Create project");
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").getByLabel("Name").fill("Wrong Name");
    await page.getByText("Lower-case letters and digits").waitFor();
    await page.getByRole("dialog").getByLabel("Name").fill("made-here");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "made-here" }).waitFor();
    await page.getByText("podman login").waitFor();
    await checkAccessibility(page, "empty project");
    assert.equal((await admin.call("GET", "/api/v2.0/projects/made-here")).status, 200);
    await page.close();
  },
);

test("in Chromium: an artifact shows its layers, history, referrers, package and commands", { skip }, async () => {
  const page = await openPage();
  await visit(page, "/projects/ws-eric");
  await page.getByRole("link", { name: "tools/ndvi" }).click();
  await page.getByRole("link", { name: "1.2" }).click();
  await page.getByText("RUN make ndvi").waitFor();
  await page.getByText("2 layers, 47.9 KiB").waitFor();
  await page.getByText("Signature (notation)").waitFor();
  const host = new URL(registry.url).host;
  await page.getByText(`podman pull ${host}/ws-eric/tools/ndvi:1.2`).waitFor();
  await page.getByRole("tab", { name: "Kubernetes" }).click();
  await page.getByText("imagePullSecrets").waitFor();
  await checkAccessibility(page, "artifact");
  await show(page, "artifact");
  await page.getByLabel("Another tag").fill("stable");
  await page.getByRole("button", { name: "Add" }).click();
  await page.getByRole("button", { name: "Delete the tag stable" }).waitFor();
  await visit(page, "/projects/ws-eric/repository?name=package");
  await page.getByRole("link", { name: "1.0" }).click();
  await page.getByText("cwlVersion: v1.2").waitFor();
  await page.getByText('"href":').waitFor();
  await show(page, "package");
  await page.close();
});

test("in Chromium: a deletion can be called off, and happens otherwise", { skip }, async () => {
  const page = await openPage();
  await visit(page, "/projects/ws-eric/repository?name=tools%2Fndvi");
  const exists = async () =>
    (await admin.call("GET", "/api/v2.0/projects/ws-eric/repositories/tools%252Fndvi/artifacts/1.2")).status;
  await page.getByRole("button", { name: /^Delete (1\.2|stable)$/ }).click();
  await page.getByText(/is deleted in 8 seconds/).waitFor();
  await page.getByRole("link", { name: /^(1\.2|stable)$/ }).waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Undo" }).click();
  await page.getByRole("link", { name: /^(1\.2|stable)$/ }).waitFor();
  assert.equal(await exists(), 200);
  await page.getByRole("link", { name: /^(1\.2|stable)$/ }).click();
  await page.getByRole("button", { name: "Delete the tag stable" }).click();
  await page.getByText("The tag stable is deleted.").waitFor();
  assert.equal(await exists(), 200, "the other tag stays");
  await page.close();
});

test("in Chromium: members, robots, rules, quota and the audit log", { skip }, async () => {
  const page = await openPage();
  await visit(page, "/projects/ws-eric/members");
  await page.getByRole("button", { name: "Add a member" }).click();
  await page.getByRole("dialog").getByLabel("Name").fill("eric");
  await page.getByRole("dialog").getByRole("button", { name: "Save" }).click();
  await page.getByRole("combobox", { name: "Role of eric" }).waitFor();
  await checkAccessibility(page, "members");
  await visit(page, "/projects/ws-eric/robots");
  await page.getByRole("button", { name: "Create a robot" }).click();
  await page.getByRole("dialog").getByLabel("Name").fill("builder");
  await page.getByRole("dialog").getByRole("button", { name: "Create" }).click();
  const secret = await page.getByRole("dialog").getByLabel("Secret", { exact: true }).inputValue();
  assert.equal(
    (await createClient(registry.url, toBasic("robot$ws-eric+builder", secret)).call("GET", "/v2/")).status,
    200,
  );
  await page.getByRole("button", { name: "Done" }).click();
  await page.getByText("robot$ws-eric+builder").waitFor();
  await checkAccessibility(page, "robots");
  await visit(page, "/projects/ws-eric/rules");
  const retention = page.getByRole("region", { name: "Retention" });
  await retention.getByLabel("How many").fill("1");
  await retention.getByRole("button", { name: "Add the rule" }).click();
  await retention.getByText("the last pushed 1 artifacts").waitFor();
  await retention.getByRole("button", { name: "Show what would go" }).click();
  await retention
    .getByText(/would go/)
    .last()
    .waitFor();
  const hooks = page.getByRole("region", { name: "Webhooks" });
  await hooks.getByLabel("Name of the webhook").fill("ci");
  await hooks.getByLabel("Address").fill("https://ci.example.org/hook");
  await hooks.getByRole("button", { name: "Add the webhook" }).click();
  await hooks.getByRole("button", { name: "Delete the webhook ci" }).waitFor();
  await page.getByRole("region", { name: "Immutable tags" }).getByLabel("Tags").last().fill("v*");
  await page.getByRole("region", { name: "Immutable tags" }).getByRole("button", { name: "Add" }).click();
  await page.getByRole("button", { name: "Delete the rule for v*" }).waitFor();
  await checkAccessibility(page, "rules");
  await show(page, "rules");
  await visit(page, "/projects/ws-eric/settings");
  await page.getByLabel("The most that it may hold").fill("3 GiB");
  await page.getByRole("button", { name: "Set", exact: true }).click();
  await page.getByText("The quota is set.").waitFor();
  assert.equal((await admin.call("GET", "/api/v2.0/projects/ws-eric")).json().quota.hard.storage, 3 * 2 ** 30);
  await checkAccessibility(page, "settings");
  await show(page, "settings");
  await visit(page, "/projects/ws-eric/audit");
  await page.getByText("robot$ws-eric+builder").first().waitFor();
  await checkAccessibility(page, "audit");
  await page.close();
});

test("in Chromium: labels, a bill of materials, and other registries", { skip }, async () => {
  const sbom = Buffer.from(
    JSON.stringify({ spdxVersion: "SPDX-2.3", packages: [{ name: "zlib", versionInfo: "1.3" }] }),
  );
  await admin.pushImage("ws-eric/labelled", "1");
  const image = (await admin.call("GET", "/v2/ws-eric/labelled/manifests/1")).body;
  const empty = Buffer.from("{}");
  await admin.pushBlob("ws-eric/labelled", empty);
  await admin.pushBlob("ws-eric/labelled", sbom);
  const mediaType = "application/vnd.oci.image.manifest.v1+json";
  const referrer = imageOf(empty, [], {
    artifactType: "application/spdx+json",
    layers: [{ mediaType: "application/spdx+json", digest: digestOf(sbom), size: sbom.length }],
    subject: { mediaType, digest: digestOf(image), size: image.length },
  });
  assert.equal((await admin.putManifest("ws-eric/labelled", digestOf(JSON.stringify(referrer)), referrer)).status, 201);
  const page = await openPage();
  await visit(page, `/projects/ws-eric/artifact?name=labelled&digest=${encodeURIComponent(digestOf(image))}`);
  const labels = page.getByRole("region", { name: "Labels" });
  await labels.getByLabel("New label of the project").fill("tested");
  await labels.getByRole("button", { name: "Create" }).click();
  await labels.getByRole("combobox", { name: "Add a label" }).click();
  await page.getByRole("option", { name: "tested" }).click();
  await labels.getByRole("button", { name: "Take the label tested away" }).waitFor();
  await page.getByRole("region", { name: "Vulnerabilities" }).getByText("It was not scanned.").waitFor();
  await checkAccessibility(page, "labelled artifact");
  await show(page, "labelled");
  await page.getByRole("region", { name: "What refers to it" }).getByText("Software bill of materials").waitFor();
  await page.getByRole("region", { name: "What refers to it" }).getByRole("link").first().click();
  await page.getByRole("region", { name: "Bill of materials" }).getByText("zlib").waitFor();
  await show(page, "sbom");

  await visit(page, "/registries");
  await page.getByLabel("Name of the registry").fill("away");
  await page.getByLabel("Address", { exact: true }).fill("https://registry.invalid");
  await page.getByRole("button", { name: "Add the registry" }).click();
  await page.getByRole("button", { name: "Test away" }).waitFor();
  // Before there is a notification, which fades in.
  await checkAccessibility(page, "other registries");
  await page.getByRole("button", { name: "Test away" }).click();
  await page.getByText("away does not answer as it should").first().waitFor();
  await show(page, "other-registries");
  await page.close();
});

test("in Chromium: every page in the dark, and on a phone none is wider than it", { skip }, async () => {
  const phone = await openContext({
    viewport: { width: 390, height: 844 },
    isMobile: true,
    hasTouch: true,
    colorScheme: "dark",
  });
  const page = await openPage(phone);
  await visit(page, "/");
  await signIn(page);
  await page.getByRole("link", { name: "ws-eric" }).waitFor();
  for (const path of [
    "/",
    "/registries",
    "/replication",
    "/scanners",
    "/robots",
    "/audit",
    "/secret",
    "/projects/ws-eric",
    "/projects/ws-eric/members",
    "/projects/ws-eric/robots",
    "/projects/ws-eric/rules",
    "/projects/ws-eric/audit",
    "/projects/ws-eric/settings",
  ]) {
    await visit(page, path);
    const overflow = await page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth");
    assert.equal(overflow, 0, `${path} is not wider than the phone`);
    await show(page, `dark${path.replaceAll("/", "-")}`);
  }
  await checkAccessibility(page, "settings in the dark");
  await phone.close();
});

const toBasic = (user: string, password: string) => `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`;

test(
  "in Chromium, on a phone: a member signs in with the platform, sees their project alone, and makes a secret",
  { skip },
  async () => {
    const phone = await openContext({ viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true });
    const page = await openPage(phone);
    await visit(page, "/");
    await page.getByRole("link", { name: "Log in with the platform" }).click();
    await page.getByLabel("User name or e-mail").fill("eric");
    await page.getByLabel("Password").fill(PASSWORD);
    await page.getByLabel("Password").press("Enter");
    await page.getByRole("link", { name: "ws-eric" }).waitFor();
    assert.equal(await page.getByRole("link", { name: "closed" }).count(), 0);
    await show(page, "phone-projects");
    await page.getByRole("link", { name: "ws-eric" }).click();
    await page.getByRole("link", { name: "tools/ndvi" }).click();
    await page.getByRole("link", { name: "1.2" }).click();
    await page.getByText("RUN make ndvi").waitFor();
    const overflow = await page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth");
    assert.equal(overflow, 0, "the page is not wider than the phone");
    assert.equal(await page.getByRole("button", { name: "Delete", exact: true }).count(), 0, "a guest deletes nothing");
    await show(page, "phone-artifact");
    await visit(page, "/secret");
    await page.getByRole("button", { name: "Create a secret" }).click();
    const secret = await page.getByLabel("Secret", { exact: true }).inputValue();
    const eric = createClient(registry.url, toBasic("eric", secret));
    assert.equal((await eric.call("GET", "/v2/ws-eric/tools/ndvi/manifests/1.2")).status, 200);
    await checkAccessibility(page, "secret");
    await phone.close();
  },
);

test("the pages' own policy forbids nothing that they need, and nobody outside is asked", { skip }, async () => {
  const strict = await openContext({ bypassCSP: false });
  const page = await openPage(strict);
  page.on("console", (message) => {
    if (/content security policy/i.test(message.text())) {
      faults.push(message.text());
    }
  });
  await visit(page, "/");
  await signIn(page);
  await page.getByRole("link", { name: "ws-eric" }).click();
  await page.getByRole("link", { name: "tools/ndvi" }).click();
  await page.getByRole("link", { name: "1.2" }).click();
  await page.getByText("RUN make ndvi").waitFor();
  await strict.close();
  assert.deepEqual(faults, []);
});
