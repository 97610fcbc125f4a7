// A pod of its own process, to be killed: `main.ts SOCKET`. /slow never ends, /silent never answers, both tell the parent when they
// are at it; everything else says who it is.
import { rmSync } from "node:fs";
import { createServer } from "node:http";

const [socketPath = ""] = process.argv.slice(2);
rmSync(socketPath, { force: true });
const server = createServer((request, response) => {
  request.resume();
  switch (request.url) {
    case "/slow":
      response.writeHead(200, { "content-length": 1000 }).write("begun", () => process.send?.("begun"));
      break;
    case "/silent":
      process.send?.("asked");
      break;
    default:
      request.on("end", () => response.end(String(process.pid)));
  }
});
server.listen(socketPath, () => process.send?.("ready"));
process.on("SIGTERM", () => {
  server.close(() => process.exit(0));
  server.closeIdleConnections();
});
