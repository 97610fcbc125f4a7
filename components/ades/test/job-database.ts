import { join } from "node:path";

import { type Database, openDatabase } from "@swath/postgres";
import { startTestServer } from "@swath/postgres/server";

import type { Tables } from "../store/tables.ts";

/** The service's tables on a PostgreSQL server of the test, which ends with `close`. */
export async function openJobDatabase(): Promise<Database<Tables>> {
  const server = await startTestServer();
  const database = await openDatabase<Tables>({
    url: server.url,
    schema: "ades",
    migrations: join(import.meta.dirname, "../migrations"),
    onError: () => {},
  });
  return {
    ...database,
    close: async () => {
      await database.close();
      await server.close();
    },
  };
}
