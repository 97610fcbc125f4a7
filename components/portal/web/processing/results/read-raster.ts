import type { RasterResponse } from "./raster-messages.ts";

interface Reply {
  readonly id: number;
  readonly answer?: RasterResponse;
  readonly error?: string;
}

let worker: Worker | undefined;
let count = 0;
const waiting = new Map<number, (reply: Reply) => void>();

/** Sums up a band of a raster in a worker. @throws {Error} when it cannot be read */
export async function readRaster(path: string, band: number): Promise<RasterResponse> {
  if (worker === undefined) {
    worker = new Worker(new URL("./raster-worker.ts", import.meta.url), { type: "module" });
    worker.addEventListener("message", ({ data }: MessageEvent<Reply>) => {
      waiting.get(data.id)?.(data);
      waiting.delete(data.id);
    });
    worker.addEventListener("error", () => {
      worker = undefined;
      waiting.forEach((response, id) => response({ id, error: "The raster cannot be read by this browser." }));
      waiting.clear();
    });
  }
  count += 1;
  const id = count;
  const reply = new Promise<Reply>((resolve) => waiting.set(id, resolve));
  worker.postMessage({ id, url: new URL(path, location.href).href, band });
  const { answer: response, error } = await reply;
  if (response === undefined) {
    throw new Error(error ?? "The raster cannot be read.");
  }
  return response;
}
