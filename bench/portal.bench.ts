// The portal in a browser: when the largest part of a page is painted, and how much script comes before that.
import { createHash } from "node:crypto";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { connect } from "node:tls";
import { gzipSync } from "node:zlib";

import { launchChromium } from "@swath/testing/chromium";
import type { Browser, BrowserContext } from "playwright-core";

import { deployPortal, fillInLogin } from "../test/e2e/portal/portal-browser.ts";
import { median } from "./median.ts";
import type { BenchRow } from "./types.ts";

const LOADS = 7;
const ASSETS = join(import.meta.dirname, "../components/portal/web/dist/assets");
/** Milliseconds without a new candidate after which the last one was the largest. */
const QUIET_MS = 700;

/** Keeps the time of the last candidate (W3C Largest Contentful Paint). */
const OBSERVE = `globalThis.largest = 0;
new PerformanceObserver((list) => { for (const entry of list.getEntries()) globalThis.largest = entry.startTime; })
  .observe({ type: "largest-contentful-paint", buffered: true });`;

/** Needs Debian's chromium-headless-shell. */
export async function bench(): Promise<BenchRow[]> {
  const rows: BenchRow[] = [];
  for (const kind of ["TLS", "plain"] as const) {
    const { cluster, fixture, close } = await deployPortal({ USE_TLS: String(kind === "TLS") });
    try {
      const address = kind === "TLS" ? fixture.url("portal") : `http://portal.${cluster.domain}:${cluster.port}/`;
      // A browser that passes over errors of certificates keeps no file; one that knows the key does.
      const options = kind === "TLS" ? [`--ignore-certificate-errors-spki-list=${await readKeyHash(address)}`] : [];
      const browser = await launchChromium(options);
      try {
        rows.push(...(await measurePages(browser, address, kind)));
      } finally {
        await browser.close();
      }
    } finally {
      await close();
    }
  }
  return rows;
}

/** SHA-256 of the public key that a server shows, in base64. */
async function readKeyHash(address: string): Promise<string> {
  const { hostname, port } = new URL(address);
  const socket = connect({ host: "127.0.0.1", port: Number(port), servername: hostname, rejectUnauthorized: false });
  await once(socket, "secureConnect");
  const key = socket.getPeerX509Certificate()?.publicKey.export({ type: "spki", format: "der" }) ?? "";
  socket.destroy();
  return createHash("sha256").update(key).digest("base64");
}

async function measurePages(browser: Browser, address: string, kind: "TLS" | "plain"): Promise<BenchRow[]> {
  const open = () => browser.newContext({ locale: "en-US", viewport: { width: 1280, height: 860 } });
  const state = await logIn(await open(), address);
  const times = { "start page, first load": [], "start page, again": [], "home, first load": [], "home, again": [] };
  const keep = (name: keyof typeof times, value: number) => (times[name] as number[]).push(value);
  let scripts: readonly string[] = [];
  for (let load = 0; load < LOADS; load += 1) {
    // A context of its own has nothing cached.
    const stranger = await open();
    keep("start page, first load", (await loadPage(stranger, address)).largest);
    keep("start page, again", (await loadPage(stranger, address)).largest);
    await stranger.close();
    const user = await browser.newContext({
      locale: "en-US",
      viewport: { width: 1280, height: 860 },
      storageState: state,
    });
    const first = await loadPage(user, address);
    scripts = first.scripts;
    keep("home, first load", first.largest);
    keep("home, again", (await loadPage(user, address)).largest);
    await user.close();
  }
  const bytes = scripts.map((name) => gzipSync(readFileSync(join(ASSETS, name))).length);
  return [
    ...Object.entries(times).map(([name, values]) => ({
      name: `portal: largest contentful paint over ${kind}, ${name}`,
      value: median(values) / 1000,
      unit: "s",
      aim: "≤ 1 s",
      note: `median of ${LOADS}; headless Chromium on the same machine`,
    })),
    ...(kind === "TLS"
      ? [
          {
            name: "portal: script of the first load, gzipped",
            value: bytes.reduce((sum, each) => sum + each, 0) / 1000,
            unit: "kB",
            aim: "≤ 250 kB",
            note: `${scripts.length} files, home, logged in`,
          },
        ]
      : []),
  ];
}

async function logIn(
  context: BrowserContext,
  address: string,
): Promise<Awaited<ReturnType<BrowserContext["storageState"]>>> {
  const page = await context.newPage();
  await page.goto(address);
  await page.getByRole("link", { name: "Log in" }).click();
  await fillInLogin(page, "eric");
  await page.getByRole("button", { name: /^Logged in as/ }).waitFor();
  const state = await context.storageState();
  await context.close();
  return state;
}

/** Loads a page until nothing larger is painted; milliseconds since its navigation, and names of its scripts. */
async function loadPage(
  context: BrowserContext,
  address: string,
): Promise<{ readonly largest: number; readonly scripts: readonly string[] }> {
  const page = await context.newPage();
  await page.addInitScript(OBSERVE);
  await page.goto(address, { waitUntil: "networkidle" });
  let largest = 0;
  for (;;) {
    const now = Number(await page.evaluate("globalThis.largest"));
    if (now > 0 && now === largest) {
      break;
    }
    largest = now;
    await page.waitForTimeout(QUIET_MS);
  }
  const scripts = await page.evaluate<string[]>(
    `performance.getEntriesByType("resource").map((one) => new URL(one.name)).filter((url) => url.pathname.endsWith(".js")).map((url) => url.pathname.split("/").at(-1))`,
  );
  await page.close();
  return { largest, scripts };
}
