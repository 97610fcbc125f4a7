import assert from "node:assert/strict";

import axe from "axe-core";
import type { Page } from "playwright-core";

/** No serious accessibility fault on the page as it is. The page's policy must be passed over (`bypassCSP`). */
export async function checkAccessibility(page: Page, where: string): Promise<void> {
  await page.evaluate(axe.source);
  const found = await page.evaluate(async () => {
    const { axe: checker } = globalThis as unknown as { axe: typeof axe };
    const { violations } = await checker.run();
    return violations
      .filter(({ impact }) => impact === "serious" || impact === "critical")
      .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" ")}`);
  });
  assert.deepEqual(found, [], where);
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
