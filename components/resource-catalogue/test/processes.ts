import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";

import { compiledCode, findFreePorts, programFile, waitUntil } from "@swath/testing";

/** The service as a process of its own, which can be killed. */
export interface CatalogueProcess {
  readonly url: string;
  readonly start: () => Promise<void>;
  /** Ends it at once, as `kill -9` would. */
  readonly kill: () => Promise<void>;
}

/** A replica of the service on a database; everybody is an operator. It is started by `start`. */
export async function prepareProcess(
  databaseUrl: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<CatalogueProcess> {
  const [port = 0] = await findFreePorts(1);
  const url = `http://127.0.0.1:${port}`;
  let child: ChildProcess | undefined;
  return {
    url,
    start: async () => {
      child = spawn(process.execPath, [programFile("resource-catalogue/main.ts")], {
        env: {
          ...compiledCode,
          LOG_LEVEL: "fatal",
          DATABASE_URL: databaseUrl,
          PUBLIC_URL: "http://resource-catalogue.localhost",
          AUTHENTICATION: "optional",
          LISTEN: `127.0.0.1:${port}`,
          ...environment,
        },
        stdio: ["ignore", "ignore", "inherit"],
      });
      await waitUntil("the service", async () => (await fetch(`${url}/stac/conformance`)).ok);
    },
    kill: async () => {
      if (child !== undefined && child.exitCode === null && child.signalCode === null) {
        const ended = once(child, "exit");
        child.kill("SIGKILL");
        await ended;
      }
    },
  };
}
