import { DatabaseSync } from "node:sqlite";
import { parentPort, workerData } from "node:worker_threads";

const database = new DatabaseSync(String(workerData));
database.exec("pragma synchronous = normal; pragma cache_size = -1024");
parentPort?.on("message", () => {
  const row = database.prepare("pragma wal_checkpoint(passive)").get();
  parentPort?.postMessage(row);
});
