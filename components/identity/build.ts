import type { Logger, RunningService, Settings } from "@swath/service";
import { CallerLimits, type MetricsRegistry } from "@swath/service/caller-limits";
import { FairPace } from "@swath/service/fair-pace";
import { readyServer } from "@swath/service/fastify";

import type { settings as definitions } from "./config.ts";
import type { IdentityContext, LoginFace, UserProfile } from "./context.ts";
import { createDelegateClient } from "./variant-b/pdp/delegate.ts";
import { DEMO_PASSWORD } from "./login/change-password.ts";
import { createPasswordHasher } from "./login/hasher.ts";
import { LOGIN_PACE } from "./login/limits.ts";
import { createCapturingMailer, createSmtpMailer } from "./mail/mailer.ts";
import { createPolicyCache } from "./policy/policy-cache.ts";
import { startLogoutDelivery } from "./protocol/back-channel-logout.ts";
import { createClientKeys } from "./protocol/client-keys.ts";
import { createClientAddresses } from "./protocol/client-addresses.ts";
import { createRealmCache } from "./realms/realm-cache.ts";
import { startCleanUp } from "./realms/clean-up.ts";
import { createIdentityService } from "./service.ts";
import { openChangeFeed } from "./store/changes.ts";
import { openIdentityDatabase } from "./store/database.ts";
import { createRefreshRotation } from "./store/refresh-batches.ts";

interface BuildOptions {
  readonly settings: Settings<typeof definitions>;
  readonly logger: Logger;
  readonly metrics?: MetricsRegistry;
  readonly reportWaiting?: (reason: string | undefined) => void;
}

/** Opens the database and puts the service together. */
export async function buildIdentity({
  settings,
  logger,
  metrics,
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
  // Triggers note its events.
  database.audit.sealEvery(5000);
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
          decisions: settings.DECISIONS === "open" ? "open" : "callers",
          profile,
          delegates: settings.DECISION_POINT
            ? createDelegateClient(splitList(settings.DECISION_ALLOW_PRIVATE))
            : undefined,
        };
  const clientAddresses = createClientAddresses({
    allowPrivate: splitList(settings.CLIENT_ALLOW_PRIVATE),
    publicUrl: settings.PUBLIC_URL,
    domain: settings.PLATFORM_DOMAIN,
  });
  const startedAt = new Date();
  const context: IdentityContext = {
    pool,
    startedAt,
    rotation: createRefreshRotation(pool, startedAt),
    logger,
    publicUrl: settings.PUBLIC_URL,
    domain: settings.PLATFORM_DOMAIN,
    login,
    changes,
    realms: createRealmCache({
      pool,
      publicUrl: settings.PUBLIC_URL,
      loginRealm: login?.realm,
      changes,
      clientKeys: createClientKeys(clientAddresses, logger),
    }),
    hasher: createPasswordHasher(settings.HASH_CONCURRENCY),
    demoPassword: settings.DEMO_PASSWORD ? DEMO_PASSWORD : undefined,
    limits: new CallerLimits(metrics),
    loginPace: new FairPace(LOGIN_PACE),
    policies: createPolicyCache(pool, changes),
    clientAddresses,
    registration: readRegistrationMode(settings.CLIENT_REGISTRATION),
  };
  const app = await createIdentityService(logger, context);
  const cleanUp = startCleanUp(context, settings.CLEAN_UP_INTERVAL);
  const logouts = await startLogoutDelivery(context);
  return {
    context,
    servers: { http: await readyServer(app) },
    ready: async () => {
      await database.check();
      context.hasher.checkHealth();
    },
    close: async () => {
      cleanUp.stop();
      await logouts.stop();
      context.policies.close();
      profile?.mailer.close();
      await changes.close();
      await app.close();
      await database.close();
    },
  };
}

const splitList = (text = ""): readonly string[] => text.split(",").flatMap((entry) => entry.trim() || []);

function readRegistrationMode(text: string): IdentityContext["registration"] {
  if (text === "off") {
    return undefined;
  }
  if (text === "operators" || text === "open") {
    return text;
  }
  throw new TypeError(`CLIENT_REGISTRATION is ${JSON.stringify(text)}; allowed: off, operators, open`);
}
