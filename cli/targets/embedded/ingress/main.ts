// The ingress of the embedded cluster, one process. INGRESS_CONFIG names its configuration (config.ts has the shape).
import {
  createLogger,
  defineSettings,
  loadSettings,
  parseListenAddress,
  SettingsError,
  startManagement,
} from "@swath/service";
import { Registry } from "prom-client";

import { createIngress } from "./ingress.ts";
import { followConfig } from "./watch-config.ts";

const SETTINGS = defineSettings({
  INGRESS_CONFIG: { kind: "string", description: "path of the configuration, a JSON file" },
  INGRESS_TAKEOVER: {
    kind: "boolean",
    default: false,
    description: "true: another ingress may still listen on the addresses, because this one relieves it",
  },
  INGRESS_GRACE: { kind: "duration", default: "30s", description: "how long open requests may take after SIGTERM" },
  MANAGEMENT_LISTEN: { kind: "string", default: "127.0.0.1:0", description: "address of health and metrics" },
  LOG_LEVEL: { kind: "string", default: "info", description: "least severe level that is logged" },
});

const logger = createLogger("ingress", process.env["LOG_LEVEL"] ?? "info");
process.on("uncaughtException", (error) => {
  logger.fatal({ err: error }, "uncaught error; stopping");
  process.exit(1);
});
process.on("unhandledRejection", (error) => {
  logger.fatal({ err: error }, "unhandled rejection; stopping");
  process.exit(1);
});

try {
  await run();
} catch (error) {
  if (error instanceof SettingsError) {
    logger.fatal({ mistakes: error.mistakes }, "settings are not usable");
    process.exit(78);
  }
  logger.fatal({ reason: (error as Error).message }, "the ingress cannot start");
  process.exit(1);
}

async function run(): Promise<void> {
  const settings = loadSettings(SETTINGS, process.env);
  const registry = new Registry();
  const ingress = createIngress({ logger, registry, accessLogFd: 1, takeover: settings.INGRESS_TAKEOVER });
  const config = await followConfig(settings.INGRESS_CONFIG, ingress.apply, (error) =>
    logger.error({ reason: error.message }, "the new configuration is not used; the one before stays"),
  );
  process.on("SIGHUP", () => config.reload());

  let stopping = false;
  const management = await startManagement({
    address: parseListenAddress(settings.MANAGEMENT_LISTEN),
    metrics: registry,
    ready: async () => {
      if (stopping) {
        throw new Error("stopping");
      }
    },
  });
  logger.info({ management: management.address, listening: ingress.listening() }, "listening");

  const stop = async (signal: string) => {
    if (stopping) {
      return;
    }
    stopping = true;
    logger.info({ signal }, "stopping: open requests are finished first");
    await ingress.drain(settings.INGRESS_GRACE * 1000);
    config.close();
    await management.close();
    process.exit(0);
  };
  process.on("SIGTERM", (signal) => void stop(signal));
  process.on("SIGINT", (signal) => void stop(signal));
}
