import { createHash } from "node:crypto";
import { open } from "node:fs/promises";
import { type Server, createServer } from "node:http";

/**
 * What receiving a large object takes at least: a bare server that digests what comes (the ETag of S3 is its MD5), writes it to
 * `path` meanwhile, and answers once it is on the disk.
 */
export function createReceiver(path: string): Server {
  return createServer((request, response) => {
    receive(request, path).then(
      (digest) => response.end(digest),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  });
}

async function receive(body: AsyncIterable<Buffer>, path: string): Promise<string> {
  const file = await open(path, "w");
  try {
    const md5 = createHash("md5");
    let position = 0;
    let writing: Promise<unknown> = Promise.resolve();
    for await (const chunk of body) {
      const written = file.write(chunk, 0, chunk.length, position);
      position += chunk.length;
      md5.update(chunk);
      await writing;
      writing = written;
    }
    await writing;
    await file.sync();
    return md5.digest("hex");
  } finally {
    await file.close();
  }
}
