import react from "@vitejs/plugin-react";
import type { UserConfig } from "vite";

import { geotiffWorker } from "./geotiff-worker.ts";
import { places } from "./places.ts";
import { colorSchemeFirst, houseHead, splash } from "./html-plugins.ts";

interface WebConfigOptions {
  /** The folder of the app: `index.html`, `src/`. */
  readonly root: string;
  /** While developing: paths that a running service answers. */
  readonly services?: Readonly<Record<string, string>>;
}

/** How every app of the platform is built: what its `vite.config.ts` exports. */
export function createWebConfig({ root, services = {} }: WebConfigOptions): UserConfig {
  return {
    root,
    appType: "spa",
    plugins: [react(), houseHead(), splash(), colorSchemeFirst(), geotiffWorker(), places()],
    worker: { format: "es", plugins: () => [geotiffWorker()] },
    // The service replaces this in every page that it sends (@swath/service/web).
    html: { cspNonce: "CSP_NONCE" },
    // One React, whichever folder an import starts from.
    resolve: {
      dedupe: ["react", "react-dom", "@mantine/core", "@mantine/hooks", "@tanstack/react-query", "react-router"],
    },
    server: {
      proxy: Object.fromEntries(
        Object.entries(services).map(([path, target]) => [path, { target, changeOrigin: true }]),
      ),
    },
    build: {
      target: "es2023",
      outDir: "dist",
      emptyOutDir: true,
      // Nothing inside the page's own text: the policy of the service forbids it.
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      reportCompressedSize: false,
      chunkSizeWarningLimit: 1500,
      license: { fileName: "assets/licenses.md" },
    },
  };
}
