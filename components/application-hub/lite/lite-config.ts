import { readFileSync } from "node:fs";
import { join } from "node:path";

/** What the distribution brings and nobody needs here: sources of its scripts, another platform's pages. */
export const isHiddenFile = (path: string): boolean =>
  path.endsWith(".map") || path.split("/").some((part) => part.startsWith("."));

/**
 * The distribution's own configuration with this platform's kernel in place of its extensions: those fetch Python packages from a
 * content delivery network.
 */
export function liteConfig(root: string): object {
  const own = JSON.parse(readFileSync(join(root, "jupyter-lite.json"), "utf8")) as {
    readonly "jupyter-config-data": Readonly<Record<string, unknown>>;
  };
  const { litePluginSettings: _settings, contentsStorageDrivers: _contents, ...data } = own["jupyter-config-data"];
  return {
    ...own,
    "jupyter-config-data": {
      ...data,
      appName: "Swath notebooks",
      defaultKernelName: "python",
      contentsAllJsonFile: "all.json",
      // What is written stays in this browser.
      enableMemoryStorage: false,
      settingsStorageDrivers: undefined,
      workspacesStorageDrivers: undefined,
      federated_extensions: [{ name: "swath-kernel", extension: "./extension", load: "entry.js" }],
    },
  };
}
