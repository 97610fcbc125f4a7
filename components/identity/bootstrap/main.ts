import { createLogger, loadSettings } from "@swath/service";

import { createPasswordHasher } from "../login/hasher.ts";
import { openIdentityDatabase } from "../store/database.ts";
import { bootstrapSettings } from "./config.ts";
import { readDeclaredClients } from "./declared-clients.ts";
import { setUp } from "./set-up.ts";
import { readTestUsers } from "./test-users.ts";

// oxlint-disable-next-line node/no-process-env -- a task of its own; the one place where it reads its environment
const env = process.env;
const logger = createLogger("identity-bootstrap", env["LOG_LEVEL"] ?? "info");
try {
  const settings = loadSettings(bootstrapSettings, env);
  const database = await openIdentityDatabase(
    settings.DATABASE_URL,
    (error) => logger.warn({ err: error }, "a database connection broke"),
    4,
  );
  try {
    await setUp({
      pool: database.pool,
      logger,
      hasher: createPasswordHasher(2),
      realm: settings.IDENTITY_REALM,
      adminUser: settings.IDENTITY_ADMIN_USER.toLowerCase(),
      adminPassword: settings.IDENTITY_ADMIN_PASSWORD,
      adminClient: settings.IDENTITY_ADMIN_CLIENT,
      loginScopes: settings.LOGIN_SCOPES,
      testUsers: readTestUsers(settings.IDENTITY_TEST_USERS, env),
      clients: readDeclaredClients(settings.IDENTITY_CLIENTS, env),
    });
  } finally {
    await database.close();
  }
} catch (error) {
  logger.fatal({ err: error }, error instanceof Error ? error.message : "set-up failed");
  process.exitCode = 1;
}
