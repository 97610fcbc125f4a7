import type { FastifyRequest } from "fastify";

import type { AdminClient } from "../admin-client.ts";

export interface ApiContext {
  /** The identity service's admin interface, with the rights of whoever asks. */
  readonly adminOf: (request: FastifyRequest) => AdminClient;
}
