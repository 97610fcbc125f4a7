import assert from "node:assert/strict";

import axe from "axe-core";
import type { Page } from "playwright-core";

/** Rules that colours alone can break. */
const COLOURS = ["color-contrast", "link-in-text-block"];
/** Tells light from dark. */
const LOOK =
  "[document.documentElement, document.body].map((one) => getComputedStyle(one)).map((one) => one.backgroundColor + one.color).join()";

/**
 * No serious accessibility fault on the page as it is. The page's policy must be passed over (`bypassCSP`).
 * @param rules what is looked at; all when left out
 */
export async function checkAccessibility(page: Page, where: string, rules?: readonly string[]): Promise<void> {
  // The checker stays in the page until another one is loaded.
  if (!(await page.evaluate("'axe' in globalThis"))) {
    await page.evaluate(axe.source);
  }
  const found = await page.evaluate(async (only) => {
    const { axe: checker } = globalThis as unknown as { axe: typeof axe };
    const { violations } = await checker.run({
      // The others are not written out.
      resultTypes: ["violations"],
      ...(only && { runOnly: { type: "rule", values: [...only] } }),
    });
    return violations
      .filter(({ impact }) => impact === "serious" || impact === "critical")
      .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" ")}`);
  }, rules);
  assert.deepEqual(found, [], where);
}

/** A page that is loaded has no serious accessibility fault in light, and none of colours in the dark. One load serves both. */
export async function checkLightAndDark(page: Page, where: string): Promise<void> {
  await page.emulateMedia({ colorScheme: "light", reducedMotion: "reduce" });
  await checkAccessibility(page, `${where}, light`);
  const light: unknown = await page.evaluate(LOOK);
  await page.emulateMedia({ colorScheme: "dark", reducedMotion: "reduce" });
  await page.waitForFunction(`${LOOK} !== ${JSON.stringify(light)}`);
  await settle(page);
  await checkAccessibility(page, `${where}, dark`, COLOURS);
  await page.emulateMedia({ colorScheme: "light", reducedMotion: "reduce" });
}

/** The same, and nothing is wider than a phone: to load each page anew for each form takes three times as long. */
export async function checkForms(page: Page, where: string): Promise<void> {
  await checkLightAndDark(page, where);
  const size = page.viewportSize();
  await page.setViewportSize({ width: 390, height: 844 });
  try {
    // Tables and menus find their new width a moment later.
    await page.waitForFunction("document.documentElement.scrollWidth <= 390", null, { timeout: 30_000 });
  } catch (cause) {
    throw new Error(`${where} is wider than a phone`, { cause });
  }
  await page.setViewportSize(size ?? { width: 1280, height: 800 });
}

/** Waits until no colour is between two others. */
async function settle(page: Page): Promise<void> {
  await page.waitForFunction(
    "document.getAnimations().every((one) => one.playState !== 'running' || one.effect?.getComputedTiming().endTime === Infinity)",
  );
}

/** Presses Tab until what is named so has the focus; what the page still loads comes within half a minute. */
export async function tabTo(page: Page, name: string): Promise<void> {
  const deadline = Date.now() + 30_000;
  for (let presses = 0; presses < 60 || Date.now() < deadline; presses += 1) {
    await page.keyboard.press("Tab");
    const label = await page.evaluate(
      "document.activeElement.getAttribute('aria-label') ?? (document.activeElement.labels?.[0] ?? document.activeElement).textContent",
    );
    if (String(label).replace(/ \*$/, "").trim() === name) {
      return;
    }
  }
  assert.fail(`${name} is not reached by the Tab key`);
}
