import { pino } from "pino";

import { maskCredentials } from "./mask-credentials.ts";
import { nameSourcePositions } from "./source-positions.ts";

export type Logger = pino.Logger;

/** Where secrets hide in what services log; their values become "[hidden]". */
const HIDDEN = [
  "password",
  "secret",
  "token",
  "authorization",
  "cookie",
  "access_token",
  "refresh_token",
  "client_secret",
];

/**
 * JSON lines on standard output (or where `destination` says), time in ISO 8601. A full disk under the log costs lines, never
 * the service.
 */
export function createLogger(
  name: string,
  level = "info",
  destination: pino.DestinationStream = standardOutput(),
): Logger {
  return pino(
    {
      name,
      level,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }), bindings: () => ({ name }) },
      // Addresses that people gave stand in messages and errors of all kinds.
      hooks: { streamWrite: (line) => maskCredentials(nameSourcePositions(line)) },
      redact: { paths: HIDDEN.flatMap((key) => [key, `*.${key}`, `*.*.${key}`]), censor: "[hidden]" },
    },
    destination,
  );
}

function standardOutput(): pino.DestinationStream {
  const destination = pino.destination({ fd: 1, sync: true });
  // Without a listener an ENOSPC or EPIPE of the log would end the process.
  destination.on("error", () => {});
  return destination;
}
