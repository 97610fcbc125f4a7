// The browser that tests drive.
import { existsSync } from "node:fs";

import { type Browser, chromium } from "playwright-core";

/** Debian's; the one without windows takes a fifth less processor time. */
const PROGRAMS = ["/usr/bin/chromium-headless-shell", "/usr/bin/chromium"];
const found = PROGRAMS.find((path) => existsSync(path));

/** Why there is no browser here; false where there is one. */
export const skipWithoutChromium: string | false =
  found === undefined ? "needs Chromium (apt-get install chromium-headless-shell)" : false;

/** Starts it: maps are drawn by the processor, and as root it has no sandbox of its own. */
export function launchChromium(options: readonly string[] = []): Promise<Browser> {
  return chromium.launch({
    ...(found !== undefined && { executablePath: found }),
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--enable-unsafe-swiftshader",
      "--disable-background-networking",
      ...options,
    ],
    timeout: 120_000,
  });
}
