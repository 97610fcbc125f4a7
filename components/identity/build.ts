import type { Logger, RunningService, Settings } from "@swath/service";
import { readyServer } from "@swath/service/fastify";

import type { settings as definitions } from "./config.ts";
import type { IdentityContext, LoginFace, UserProfile } from "./context.ts";
import { createDelegateClient } from "./faces/b/pdp/delegate.ts";
import { createPasswordHasher } from "./login/hasher.ts";
import { createCapturingMailer, createSmtpMailer } from "./mail/mailer.ts";
import { createPolicyCache } from "./policy/policy-cache.ts";
import { createRealmCache } from "./realms/realm-cache.ts";
import { startCleanUp } from "./realms/clean-up.ts";
import { createIdentityService } from "./service.ts";
import { openChangeFeed } from "./store/changes.ts";
import { openIdentityDatabase } from "./store/database.ts";

interface BuildOptions {
  readonly settings: Settings<typeof definitions>;
  readonly logger: Logger;
  readonly reportWaiting?: (reason: string | undefined) => void;
}

/** Opens the database and puts the service together. */
export async function buildIdentity({
  settings,
  logger,
  reportWaiting,
}: BuildOptions): Promise<RunningService & { readonly context: IdentityContext }> {
  const onError = (error: Error) => logger.warn({ err: error }, "a database connection broke");
  const database = await openIdentityDatabase(
    settings.DATABASE_URL,
    onError,
    settings.DATABASE_CONNECTIONS,
    reportWaiting,
  );
  const changes = await openChangeFeed(settings.DATABASE_URL, onError);
  const { pool } = database;
  const profile: UserProfile | undefined = settings.USER_PROFILE
    ? {
        mailer:
          settings.SMTP_URL === undefined
            ? createCapturingMailer(pool)
            : createSmtpMailer({
                url: settings.SMTP_URL,
                from: settings.SMTP_FROM ?? `no-reply@${settings.PLATFORM_DOMAIN}`,
              }),
        removalSeconds: settings.REMOVAL_DELAY,
      }
    : undefined;
  const login: LoginFace | undefined =
    settings.LOGIN_PROVIDER === undefined
      ? undefined
      : {
          provider: settings.LOGIN_PROVIDER,
          realm: settings.LOGIN_REALM,
          registration: settings.LOGIN_REGISTRATION === "open" ? "open" : "operators",
          profile,
          delegates: createDelegateClient(
            (settings.DECISION_ALLOW_PRIVATE ?? "").split(",").flatMap((entry) => entry.trim() || []),
          ),
        };
  const context: IdentityContext = {
    pool,
    startedAt: new Date(),
    logger,
    publicUrl: settings.PUBLIC_URL,
    domain: settings.PLATFORM_DOMAIN,
    login,
    changes,
    realms: createRealmCache({ pool, publicUrl: settings.PUBLIC_URL, loginRealm: login?.realm, changes }),
    hasher: createPasswordHasher(settings.HASH_CONCURRENCY),
    policies: createPolicyCache(pool, changes),
  };
  const app = await createIdentityService(logger, context);
  const cleanUp = startCleanUp(context, settings.CLEAN_UP_INTERVAL);
  return {
    context,
    servers: { http: await readyServer(app) },
    ready: database.check,
    close: async () => {
      cleanUp.stop();
      context.policies.close();
      profile?.mailer.close();
      await changes.close();
      await app.close();
      await database.close();
    },
  };
}
