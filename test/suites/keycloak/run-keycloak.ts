import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";

import { findFreePort, waitUntil } from "@swath/testing";

/** A Keycloak in development mode, with its own file of a database below its folder. */
export interface Keycloak {
  /** Sends a request as its administrator, and throws where that is refused. @returns the JSON of the response, or its location */
  readonly send: (method: string, path: string, body?: unknown) => Promise<unknown>;
  /** Ends it and writes a realm into a file, as its operators do. */
  readonly exportRealm: (realm: string, file: string) => Promise<void>;
}

const ADMIN = { username: "admin", password: "admin" };

/** @param folder an unpacked distribution */
export async function startKeycloak(folder: string): Promise<Keycloak> {
  const port = await findFreePort();
  const program = join(folder, "bin/kc.sh");
  const env = {
    // oxlint-disable-next-line node/no-process-env -- Java is where the caller has it
    PATH: process.env["PATH"],
    KC_BOOTSTRAP_ADMIN_USERNAME: ADMIN.username,
    KC_BOOTSTRAP_ADMIN_PASSWORD: ADMIN.password,
    JAVA_OPTS_KC_HEAP: "-Xmx768m",
  };
  const server = spawn(program, ["start-dev", "--http-host=127.0.0.1", `--http-port=${port}`], {
    env,
    stdio: "ignore",
  });
  const url = `http://127.0.0.1:${port}`;
  const logIn = async (): Promise<string> => {
    const response = await fetch(`${url}/realms/master/protocol/openid-connect/token`, {
      method: "POST",
      body: new URLSearchParams({ grant_type: "password", client_id: "admin-cli", ...ADMIN }),
    });
    return ((await response.json()) as { access_token: string }).access_token;
  };
  await waitUntil("Keycloak has started", () => logIn().catch(() => undefined), 600);
  return {
    send: async (method, path, body) => {
      const response = await fetch(`${url}/admin/realms${path}`, {
        method,
        // Its tokens are good for a minute.
        headers: { authorization: `Bearer ${await logIn()}`, "content-type": "application/json" },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      if (!response.ok) {
        throw new Error(`${method} ${path}: ${response.status} ${text}`);
      }
      return text === "" ? response.headers.get("location") : (JSON.parse(text) as unknown);
    },
    exportRealm: async (realm, file) => {
      const ended = once(server, "exit");
      server.kill("SIGTERM");
      await ended;
      const { status, stdout } = spawnSync(program, ["export", "--realm", realm, "--file", file], {
        env,
        encoding: "utf8",
      });
      if (status !== 0) {
        throw new Error(`Keycloak does not export: ${stdout}`);
      }
    },
  };
}
