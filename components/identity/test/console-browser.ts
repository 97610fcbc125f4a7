import assert from "node:assert/strict";

import { Browser, type Page, readPageForm } from "./browser.ts";
import { PASSWORD } from "./start-identity.ts";

/** Somebody at the administration console of a service. */
export async function openConsole(url: string, username: string): Promise<Browser> {
  const browser = new Browser();
  const login = await browser.open(`${url}/`);
  assert.equal(login.status, 200, login.text);
  const { action, fields } = readPageForm(login);
  const inside = await browser.open(action, { form: { ...fields, username, password: PASSWORD } });
  assert.ok(!inside.url.includes("?"), inside.url);
  return browser;
}

/** The address that a link of the page has, found by its text. */
export function linkOf(page: Page, text: string): string {
  const found = [...page.text.matchAll(/<a [^>]*href="([^"]+)"[^>]*>\s*([^<]*?)\s*<\/a\s*>/g)].findLast(
    ([, , label]) => label === text,
  );
  assert.ok(found?.[1], `no link ${text} on ${page.url}: ${page.text}`);
  return new URL(found[1].replaceAll("&amp;", "&"), page.url).href;
}

export const formTokenOf = (page: Page): string => /name="form_token"\s+value="([^"]+)"/.exec(page.text)?.[1] ?? "";

/** Fills in a form of the console, as it is served now. */
export async function submitForm(
  browser: Browser,
  url: string,
  action: string,
  form: Record<string, string> = {},
): Promise<Page> {
  const page = await browser.open(url);
  assert.match(page.text, new RegExp(`name="action"\\s+value="${action}"`), page.text);
  return browser.open(url.split("?", 1)[0] ?? "", { form: { form_token: formTokenOf(page), action, ...form } });
}

export const noticeOf = (page: Page) => /<p role="status">([^<]*)</.exec(page.text)?.[1];
export const alertOf = (page: Page) => /<p role="alert">([^<]*)</.exec(page.text)?.[1]?.replaceAll("&quot;", '"');
