// Decodes blocks of GeoTIFFs beside the page. The library's own worker is a text inside its script, which the pages' policy
// (workers from the deployment only) does not let run; build/geotiff-worker.ts puts this one in its place.
import { getDecoder } from "geotiff";

interface Job {
  readonly compression: number;
  readonly decoderParameters: unknown;
  readonly buffer: ArrayBuffer;
  readonly jobId: number;
}

self.addEventListener("message", ({ data }: MessageEvent<Job>) => {
  const { compression, decoderParameters, buffer, jobId } = data;
  getDecoder(compression, decoderParameters as never)
    .then((decoder) => decoder.decode(buffer))
    .then(
      (decoded) => self.postMessage({ decoded, jobId }, { transfer: [decoded as ArrayBuffer] }),
      (error: unknown) => self.postMessage({ error: error instanceof Error ? error.message : String(error), jobId }),
    );
});
