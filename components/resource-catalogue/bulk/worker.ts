// A thread that makes batches of items ready for the store.
import { parentPort, workerData } from "node:worker_threads";

import { Problem } from "@swath/service";

import { type Batch, createBatchPreparer } from "./prepare-batch.ts";

const prepare = createBatchPreparer((workerData as { isLenient: boolean }).isLenient);
parentPort?.on("message", ({ id, batch }: { id: number; batch: Batch }) => {
  try {
    const result = prepare(batch);
    // Freed now, as what is sent is on the other side: nothing of it was kept.
    (batch.bytes.buffer as ArrayBuffer).transfer(0);
    parentPort?.postMessage({ id, result }, [result.lines.bytes.buffer]);
  } catch (error) {
    parentPort?.postMessage(
      error instanceof Problem
        ? { id, problem: { status: error.status, body: error.body } }
        : { id, message: (error as Error).stack ?? String(error) },
    );
  }
});
