/** Stands in for the library's file of the same job, which wants a default export. */
// oxlint-disable-next-line import/no-default-export -- see above
export default function createDecoderWorker(): Worker {
  return new Worker(new URL("./decoder-worker.ts", import.meta.url), { type: "module" });
}
