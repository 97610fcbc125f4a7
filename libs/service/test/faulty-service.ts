// A service whose handlers fail in the ways that no handler should: for request-faults.integration.test.ts, as a process of its own.
import { createServer } from "node:http";

import { createApp } from "../src/fastify.ts";
import { createLogger } from "../src/log.ts";
import { noteRoute } from "../src/route-list.ts";
import { runService } from "../src/run-service.ts";

const fail = (message: string) => {
  throw new Error(message);
};

await runService({
  name: "faulty",
  settings: {},
  build: async () => {
    const server = createServer((request, response) => {
      switch (request.url?.split("?", 1)[0]) {
        case "/rejects":
          void Promise.reject(new Error("rejects"));
          break;
        case "/rejects-later":
          setTimeout(() => void Promise.reject(new Error("rejects-later")), 5);
          break;
        case "/throws":
          fail("throws");
          break;
        case "/throws-in-a-timer":
          setTimeout(() => fail("throws-in-a-timer"), 5);
          break;
        case "/throws-while-reading":
          request.on("data", () => fail("throws-while-reading"));
          break;
        case "/throws-after-the-head":
          response.writeHead(200).write("half");
          setTimeout(() => fail("throws-after-the-head"), 5);
          break;
        case "/throws-after-the-end":
          response.end("whole");
          setTimeout(() => fail("throws-after-the-end"), 5);
          break;
        case "/throws-outside":
          response.end("stops");
          outside.push(() => fail("throws-outside"));
          break;
        default:
          response.end("ok");
      }
    });
    noteRoute({ method: "PUT", path: "/things/{id}?acl" });
    noteRoute({ method: "GET", path: "/things/{id}?acl" });
    const schema = {
      querystring: { type: "object", properties: { q: { type: "string" } } },
      body: { type: "object" },
    };
    createApp(createLogger("faulty", "silent")).post("/apps/:name/*", { schema }, () => ({}));
    const outside: (() => void)[] = [];
    setInterval(() => outside.pop()?.(), 5).unref();
    server.on("upgrade", () => fail("throws-upgrading"));
    return { servers: { http: server } };
  },
});
