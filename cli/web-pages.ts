import { createHash } from "node:crypto";

import { type Effort, buildStaleWebs, compressWeb, listStaleWebs, listWebs } from "@swath/ui/build";

import { acquireApplyLock } from "./targets/embedded/acquire-apply-lock.ts";
import { repositoryRoot } from "./targets/embedded/launch/code-version.ts";

interface WebPagesOptions {
  /** Components that will serve pages; all that have any when left out. */
  readonly components?: readonly string[];
  readonly stdout: NodeJS.WriteStream;
  readonly root?: string;
  /** How hard to compress what has not been compressed; nothing is when left out, as on loopback. */
  readonly compression?: Effort;
}

/**
 * Builds the web pages of components where they are missing or older than their sources, with a line for each. A commit ships
 * them built, so that this is for who changes them.
 * Gives the number of apps that were built.
 * @throws {WebBuildError}
 */
export async function buildWebPages({
  components,
  stdout,
  root = repositoryRoot,
  compression,
}: WebPagesOptions): Promise<number> {
  if (listStaleWebs(root, components).length === 0 && compression === undefined) {
    return 0;
  }
  const checkout = createHash("sha256").update(root).digest("hex").slice(0, 16);
  const release = await acquireApplyLock(`web/${checkout}`, () =>
    stdout.write("Another command builds the web pages of this checkout; waiting for it ...\n"),
  );
  let built = 0;
  try {
    await buildStaleWebs({
      root,
      ...(components && { components }),
      onStart: (component) => stdout.write(`Building the web pages of ${component} ... `),
      onDone: (_, seconds) => {
        built += 1;
        stdout.write(`done in ${seconds.toFixed(1)} s\n`);
      },
    });
    if (compression !== undefined) {
      for (const component of listWebs(root).filter((name) => components?.includes(name) ?? true)) {
        await compressWeb(root, component, compression);
      }
    }
  } finally {
    release();
  }
  return built;
}
