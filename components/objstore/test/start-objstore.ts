import { mkdtemp, rm } from "node:fs/promises";
import type { AddressInfo, Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { createLogger, loadSettings } from "@swath/service";
import { Registry } from "prom-client";

import { buildObjstore } from "../build.ts";
import { settings } from "../config.ts";

export const ROOT = { accessKeyId: "root", secretAccessKey: "root-password-of-the-tests" };

/** A whole object store in a temporary folder, on free ports of the loopback interface. */
export async function startObjstore(
  env: Readonly<Record<string, string>> = {},
  /** Where it listens, when addresses of it have to be known before. */
  ports: { readonly http?: number; readonly console?: number } = {},
  more: { readonly lifecycleDayMs?: number; readonly accessLogMs?: number } = {},
): Promise<{
  readonly url: string;
  readonly consoleUrl: string;
  readonly directory: string;
  readonly stop: () => Promise<void>;
}> {
  const directory = await mkdtemp(join(tmpdir(), "objstore-"));
  const service = await buildObjstore({
    settings: loadSettings(settings, {
      DATA_DIR: directory,
      PUBLIC_URL: "http://objstore.localhost",
      OBJSTORE_ROOT_USER: ROOT.accessKeyId,
      OBJSTORE_ROOT_PASSWORD: ROOT.secretAccessKey,
      OBJSTORE_RESERVED_MIB: "1",
      ...env,
    }),
    logger: createLogger("objstore", "error"),
    metrics: new Registry(),
    ...more,
  });
  const urls: string[] = [];
  for (const name of ["http", "console"] as const) {
    const server = service.servers[name] as Server;
    await new Promise<void>((resolve) => server.listen(ports[name] ?? 0, "127.0.0.1", resolve));
    urls.push(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  }
  return {
    url: urls[0] ?? "",
    consoleUrl: urls[1] ?? "",
    directory,
    stop: async () => {
      for (const server of Object.values(service.servers)) {
        server.closeAllConnections();
        server.close();
      }
      await service.close?.();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
