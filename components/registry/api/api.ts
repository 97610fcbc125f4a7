import type { Logger } from "@swath/service";
import { createApp } from "@swath/service/fastify";
import type { FastifyInstance } from "fastify";

import type { CallerDeps } from "../access/caller.ts";
import type { RegistryDatabase } from "../store/database.ts";

export interface ApiDeps {
  readonly logger: Logger;
  readonly database: RegistryDatabase;
  readonly access: CallerDeps;
}

/** The REST API beside the distribution API. */
export async function createApi({ logger }: ApiDeps): Promise<FastifyInstance> {
  return createApp(logger);
}
