import assert from "node:assert/strict";

import { type Page } from "playwright-core";

/**
 * Opens an uploaded page in a browser that is logged in to the platform, as it comes and as the worst that it could be, a plain page of its
 * domain: no cookie goes there, and none comes from there.
 */
export async function checkUserContent(
  page: Page,
  links: {
    /** Gives eric's name to whoever comes with eric's cookies. */
    readonly platform: string;
    readonly uploadedPage: string;
    readonly uploadedText: string;
  },
): Promise<void> {
  const { platform, uploadedPage, uploadedText } = links;
  const cookieOf = async (address: string) => {
    const response = await page.goto(address);
    assert.equal(response?.status(), 200, address);
    return (await response.request().allHeaders())["cookie"];
  };
  const listCookies = async () =>
    (await page.context().cookies()).map(({ name, domain }) => `${name} ${domain}`).toSorted();
  assert.match((await cookieOf(platform)) ?? "", /auth_/, "the platform knows this browser");
  const before = await listCookies();

  assert.equal(await cookieOf(uploadedPage), undefined);
  assert.equal(await page.title(), "harmful");
  assert.equal(await page.evaluate("window.origin"), "null");
  await assert.rejects(page.evaluate("document.cookie"), /SecurityError|sandboxed/);

  assert.equal(await cookieOf(uploadedText), undefined);
  assert.equal(await page.evaluate("window.origin"), new URL(uploadedText).origin);
  assert.equal(await page.evaluate("document.cookie"), "");
  for (const domain of [new URL(platform).hostname.replace(/^[^.]+\./, ""), "localhost"]) {
    await page.evaluate(`document.cookie = "auth_user_id=other; path=/; domain=${domain}"`);
  }
  const asked = page.waitForRequest(platform);
  await page.evaluate((target) => {
    void fetch(target, { mode: "no-cors", credentials: "include" }).catch(() => undefined);
  }, platform);
  assert.equal((await (await asked).allHeaders())["cookie"], undefined, "a page there asks as nobody");
  assert.deepEqual(await listCookies(), before);
}
