import type { View } from "@swath/isolation";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import type { AdesSettings } from "../storage.ts";
import { openToolProxy } from "./tool-proxy.ts";

/** The way of isolated tools to the network: they have none of their own, but a proxy at an address of this machine within it. */
export interface ToolNetwork {
  /** What shows the proxy to a tool. */
  readonly view: readonly View[];
  /** What a tool's command follows. */
  readonly command: readonly string[];
  readonly close: () => Promise<void>;
}

/** Where a tool sees the proxy's socket and the program that leads to it. */
const SEEN = "/run/swath";

export async function openToolNetwork(settings: AdesSettings): Promise<ToolNetwork> {
  // Paths of sockets are short.
  const folder = mkdtempSync(join(tmpdir(), "swath-net-"));
  const proxy = await openToolProxy(join(folder, "proxy"), settings);
  return {
    view: [
      { kind: "read-only", source: folder, target: `${SEEN}/net` },
      { kind: "read-only", source: process.execPath, target: `${SEEN}/node` },
      { kind: "read-only", source: join(import.meta.dirname, "lead-to-proxy.js"), target: `${SEEN}/lead-to-proxy.js` },
    ],
    command: [`${SEEN}/node`, "--max-old-space-size=32", `${SEEN}/lead-to-proxy.js`, `${SEEN}/net/proxy`],
    close: async () => {
      await proxy.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
