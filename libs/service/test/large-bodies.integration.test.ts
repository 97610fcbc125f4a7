import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, connect } from "node:net";
import { after, before, test } from "node:test";

import { createLogger } from "@swath/service";
import { createApp } from "@swath/service/fastify";

const BYTES = 16 << 20;
const app = createApp(createLogger("test", "silent"), { bodyLimit: 64 << 10 });
app.post("/", () => ({}));
let port = 0;

before(async () => {
  await app.listen({ port: 0, host: "127.0.0.1" });
  port = (app.server.address() as AddressInfo).port;
});
after(() => app.close());

/** Sends a whole body before it looks at the response, as proxies and many clients do. */
async function sendAll(framing: string, body: Buffer): Promise<string> {
  const socket = connect({ port, host: "127.0.0.1" });
  socket.pause();
  socket.write(`POST / HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n${framing}\r\n\r\n`);
  await new Promise<void>((resolve, reject) => {
    socket.once("error", reject);
    socket.write(body, () => resolve());
  });
  const response = once(socket, "data");
  socket.resume();
  const [chunk] = (await response) as [Buffer];
  socket.destroy();
  return chunk.toString("latin1");
}

test("answers 413 to clients that read the response after they have sent all", async () => {
  const body = Buffer.alloc(BYTES, "a");
  for (const [framing, bytes] of [
    [`content-length: ${BYTES}`, body],
    [
      "transfer-encoding: chunked",
      Buffer.concat([Buffer.from(`${BYTES.toString(16)}\r\n`), body, Buffer.from("\r\n0\r\n\r\n")]),
    ],
  ] as const) {
    for (let round = 0; round < 3; round += 1) {
      assert.match(await sendAll(framing, bytes), /^HTTP\/1\.1 413 /, framing);
    }
  }
});
