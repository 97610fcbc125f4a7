import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { startTestServer } from "@swath/postgres/server";
import { findFreePort } from "@swath/testing";

export const PASSWORD = "changeme";
export const SECRET = "only for this measurement";

const MAX_TRIES = 200;
const POLL_INTERVAL_MS = 50;

interface BenchIdentity {
  readonly url: string;
  readonly process: ChildProcess;
  /** From its start to its first answer. */
  readonly startSeconds: number;
  readonly close: () => Promise<void>;
}

/**
 * An identity service as a process of its own, with a database of its own, the users given and a client `service` with the secret `SECRET`.
 * @param client what is declared of the client besides
 * @param more further settings of set-up and service
 */
export async function startBenchIdentity(
  users: readonly string[],
  client: object = {},
  more: Readonly<Record<string, string>> = {},
): Promise<BenchIdentity> {
  const postgres = await startTestServer();
  const port = await findFreePort();
  const url = `http://127.0.0.1:${port}`;
  const folder = join(import.meta.dirname, "../components/identity");
  const env = {
    DATABASE_URL: postgres.url,
    LOG_LEVEL: "error",
    IDENTITY_ADMIN_PASSWORD: PASSWORD,
    IDENTITY_TEST_USERS: users.join(","),
    ...Object.fromEntries(users.map((user) => [`TEST_USER_PASSWORD_${user.toUpperCase()}`, PASSWORD])),
    IDENTITY_CLIENTS: JSON.stringify([
      { clientId: "service", name: "Service", secretEnv: "SERVICE_SECRET", ...client },
    ]),
    SERVICE_SECRET: SECRET,
    ...more,
  };
  const setUp = spawn(process.execPath, [join(folder, "bootstrap/main.ts")], { env, stdio: "inherit" });
  await new Promise((resolve) => setUp.once("exit", resolve));
  const started = performance.now();
  const service = spawn(process.execPath, [join(folder, "main.ts")], {
    env: { ...env, PUBLIC_URL: url, PLATFORM_DOMAIN: "platform.test", LISTEN: `127.0.0.1:${port}` },
    stdio: "inherit",
  });
  const close = async () => {
    service.kill();
    await postgres.close();
  };
  for (let tries = 0; !(await fetch(`${url}/healthz`).catch(() => undefined))?.ok; tries += 1) {
    if (tries > MAX_TRIES) {
      await close();
      throw new Error("the identity service did not start");
    }
    await sleep(POLL_INTERVAL_MS);
  }
  return { url, process: service, startSeconds: (performance.now() - started) / 1000, close };
}
