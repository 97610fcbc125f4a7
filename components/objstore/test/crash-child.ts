// A store that kills itself at the given point, for the crash test, on a disk whose fsync takes some milliseconds more:
// crash-child.ts <directory> <point> <nth time> [<milliseconds>]
import type { AddressInfo, Server } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

import { createLogger, loadSettings } from "@swath/service";
import { Registry } from "prom-client";

import { buildObjstore } from "../build.ts";
import { settings } from "../config.ts";

const [directory = "", point = "", nth = "1", slow = "0"] = process.argv.slice(2);
let hits = 0;
const service = await buildObjstore({
  settings: loadSettings(settings, {
    DATA_DIR: directory,
    PUBLIC_URL: "http://objstore.localhost",
    OBJSTORE_ROOT_USER: "root",
    OBJSTORE_ROOT_PASSWORD: "root-password-of-the-tests",
    OBJSTORE_RESERVED_MIB: "1",
  }),
  logger: createLogger("objstore", "error"),
  metrics: new Registry(),
  crash: {
    reach: (reached) => {
      hits += Number(reached === point);
      if (reached === point && hits === Number(nth)) {
        process.kill(process.pid, "SIGKILL");
      }
      // A slow disk: the batch is committed, and not yet forced there.
      return reached === "index-committed" && slow !== "0" ? sleep(Number(slow)) : undefined;
    },
  },
});
const server = service.servers["http"] as Server;
server.listen(0, "127.0.0.1", () => process.send?.((server.address() as AddressInfo).port));
