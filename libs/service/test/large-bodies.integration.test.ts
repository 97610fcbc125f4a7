import assert from "node:assert/strict";
import type { AddressInfo } from "node:net";
import { after, before, test } from "node:test";

import { createLogger } from "@swath/service";
import { createApp } from "@swath/service/fastify";
import { sendWholeRequest } from "@swath/testing";

const BYTES = 16 << 20;
const app = createApp(createLogger("test", "silent"), { bodyLimit: 64 << 10 });
app.post("/", () => ({}));
let port = 0;

before(async () => {
  await app.listen({ port: 0, host: "127.0.0.1" });
  port = (app.server.address() as AddressInfo).port;
});
after(() => app.close());

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
      const head = `POST / HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n${framing}\r\n\r\n`;
      assert.match(await sendWholeRequest({ port, host: "127.0.0.1" }, head, bytes), /^HTTP\/1\.1 413 /, framing);
    }
  }
});
