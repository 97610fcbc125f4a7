import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";

/** A server of files in the place of the internet: documents by the end of their path, and whole or partial files of a folder. */
export async function serveFiles(
  folder: string,
  createDocuments: (url: string) => Readonly<Record<string, string>>,
): Promise<{ readonly url: string; readonly close: () => void }> {
  let documents: Readonly<Record<string, string>> = {};
  const server = createServer((request, response) => {
    const path = request.url ?? "";
    const [, document] = Object.entries(documents).find(([end]) => path.endsWith(end)) ?? [];
    if (document !== undefined) {
      response.setHeader("content-type", path.endsWith(".json") ? "application/json" : "text/plain").end(document);
    } else if (/^\/[\w.-]+\.tif$/.test(path)) {
      const whole = readFileSync(join(folder, path));
      const [, from = 0, to = whole.length - 1] =
        /bytes=(\d+)-(\d+)/.exec(request.headers.range ?? "")?.map(Number) ?? [];
      const body = whole.subarray(from, to + 1);
      const isPartial = request.headers.range !== undefined;
      response
        .writeHead(isPartial ? 206 : 200, {
          "content-type": "image/tiff",
          "accept-ranges": "bytes",
          "content-length": body.length,
          ...(isPartial && { "content-range": `bytes ${from}-${from + body.length - 1}/${whole.length}` }),
        })
        .end(request.method === "HEAD" ? undefined : body);
    } else {
      response.writeHead(404).end();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  documents = createDocuments(url);
  return {
    url,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
