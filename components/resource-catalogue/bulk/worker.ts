// A thread that makes batches of items ready for the store.
import { parentPort, workerData } from "node:worker_threads";

import { Problem } from "@swath/service";

import { type Batch, createBatchPreparer } from "./prepare-batch.ts";

const prepare = createBatchPreparer((workerData as { isLenient: boolean }).isLenient);
parentPort?.on("message", ({ id, batch }: { id: number; batch: Batch }) => {
  try {
    const result = prepare(batch);
    parentPort?.postMessage({ id, result }, [result.lines.bytes.buffer]);
  } catch (error) {
    parentPort?.postMessage(
      error instanceof Problem
        ? { id, problem: { status: error.status, body: error.body } }
        : { id, message: (error as Error).stack ?? String(error) },
    );
  }
});
