import { mkdtempSync, rmSync } from "node:fs";
import { type Socket, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";

import type { Plan } from "../../../platform/plan.ts";
import type { DatabaseWay } from "../../target.ts";
import type { Connection } from "../api/connection.ts";
import { KubernetesError } from "../kubernetes-error.ts";
import { findReadyPod } from "../pods/find-ready-pod.ts";
import { connectToPod } from "./pod-connection.ts";

/** The name by which clients of PostgreSQL find a socket in a folder. */
const SOCKET = ".s.PGSQL.5432";
const PORT = 5432;

/**
 * Listens on a socket that only this user opens, and passes connections on to the pod of the deployed database, through the API server.
 * @throws {KubernetesError} when the database is not a pod that is ready
 */
export async function openDatabase(connection: Connection, plan: Plan): Promise<DatabaseWay> {
  const { database, workloads, settings } = plan;
  const workload = database.kind === "deployed" ? workloads.find(({ name }) => name === database.workload) : undefined;
  if (workload === undefined) {
    throw new KubernetesError("this deployment has no pod of a database");
  }
  const { namespace } = workload;
  const pod = await findReadyPod(connection, settings.clusterName, workload);
  if (pod === undefined) {
    throw new KubernetesError(`no pod of ${namespace}/${workload.name} is ready`);
  }
  const folder = mkdtempSync(join(tmpdir(), "swath-database-"));
  const clients = new Set<Socket>();
  const server = createServer((client) => {
    clients.add(client);
    client.on("close", () => clients.delete(client));
    connectToPod(connection, { namespace, pod: pod.metadata.name, port: PORT })
      .then((remote) => Promise.all([pipeline(client, remote), pipeline(remote, client)]))
      // The client sees a connection that ended, and says so.
      .catch(() => client.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(join(folder, SOCKET), resolve);
  });
  return {
    folder,
    close: async () => {
      clients.forEach((client) => client.destroy());
      await new Promise<void>((resolve) => server.close(() => resolve()));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
