import { spawn } from "node:child_process";
import { join } from "node:path";

import { isStale, listWebs } from "./web-sources.ts";

export { type Effort, compressWeb } from "./compress-web.ts";
export { listWebs } from "./web-sources.ts";

interface BuildWebsOptions {
  /** Root of the repository. */
  readonly root: string;
  /** Components whose apps are wanted; all when left out. Those without an app are passed over. */
  readonly components?: readonly string[];
  readonly onStart?: (component: string) => void;
  readonly onDone?: (component: string, seconds: number) => void;
}

/** An app could not be built; `message` holds what the bundler said. */
export class WebBuildError extends Error {
  override readonly name = "WebBuildError";
}

/** Builds the apps whose sources changed since they were built, one after the other. @throws {WebBuildError} */
export async function buildStaleWebs({ root, components, onStart, onDone }: BuildWebsOptions): Promise<void> {
  const stale = listStaleWebs(root, components);
  if (stale.length > 0) {
    await requireDevelopmentTools(root);
  }
  for (const component of stale) {
    onStart?.(component);
    const started = performance.now();
    await buildInProcess(root, component);
    onDone?.(component, (performance.now() - started) / 1000);
  }
}

/** Components whose apps `buildStaleWebs` would build. */
export function listStaleWebs(root: string, components?: readonly string[]): readonly string[] {
  return listWebs(root).filter((name) => (components?.includes(name) ?? true) && isStale(root, name));
}

/** An installation for use has no bundler: pages are shipped built. This says what it fetches, and how far it is. */
function requireDevelopmentTools(root: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(join(root, "tools/develop"), ["--version"], {
      cwd: root,
      stdio: ["ignore", "ignore", "inherit"],
    });
    child.once("error", reject);
    child.once("close", (code) =>
      code === 0
        ? resolve()
        : reject(new WebBuildError("the web pages changed, and the tools that build them could not be installed")),
    );
  });
}

function buildInProcess(root: string, component: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [join(import.meta.dirname, "main.ts"), root, component], {
      cwd: root,
      stdio: ["ignore", "pipe", "pipe"],
    });
    let output = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.on("data", (chunk: Buffer) => (output += chunk.toString()));
    }
    child.once("error", reject);
    child.once("close", (code, signal) => {
      if (code === 0) {
        resolve();
        return;
      }
      const why = output.trim() === "" ? `it ended with ${signal ?? code} and said nothing` : output.trim();
      reject(
        new WebBuildError(
          `the web pages of ${component} could not be built:\n${why}\nAfter repairing it: npm run build:web -- ${component}`,
        ),
      );
    });
  });
}
