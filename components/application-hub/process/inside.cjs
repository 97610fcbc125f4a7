// Runs inside a server's isolation, which has a network of its own with nobody in it: leads the server's port out through a
// socket, and ports of the inside to sockets outside (the hub, the way to the network). Plain JavaScript: nothing else of the
// platform is there.  inside.cjs [sync] IN:SOCKET-OR-DESCRIPTOR=PORT… OUT:PORT=SOCKET-OR-HOST:PORT… -- [COMMAND…]
"use strict";
const { spawn } = require("node:child_process");
const { constants } = require("node:os");
const fs = require("node:fs");
const net = require("node:net");

/** Milliseconds for what was changed last to reach the bucket. */
const FINISH_MS = 4000;
const end = process.argv.indexOf("--");
const [command, ...args] = process.argv.slice(end + 1);
const join = (near, options) => {
  const far = net.connect({ ...options, allowHalfOpen: true });
  near.on("error", () => far.destroy());
  far.on("error", () => near.destroy());
  near.on("close", () => far.destroy());
  far.on("close", () => near.destroy());
  near.pipe(far).pipe(near);
};
const listen = (address, options) =>
  new Promise((resolve, reject) => {
    net
      .createServer({ allowHalfOpen: true }, (near) => join(near, options))
      .on("error", reject)
      .listen(address, resolve);
  });

/** The example notebooks in the home, where a user sees them first. Whoever removes the link has a folder of the name instead. */
const showExamples = () => {
  // oxlint-disable-next-line node/no-process-env -- a program of its own
  const { HOME: home, SWATH_EXAMPLES: examples } = process.env;
  const link = `${home}/examples`;
  if (home && examples) {
    try {
      if (fs.lstatSync(link, { throwIfNoEntry: false }) === undefined) {
        fs.symlinkSync(examples, link);
      }
    } catch (error) {
      process.stderr.write(`examples: ${error.message}\n`);
    }
  }
};

(async () => {
  for (const way of process.argv.slice(2, end).filter((each) => each !== "sync")) {
    const [kind, rest] = [way.slice(0, way.indexOf(":")), way.slice(way.indexOf(":") + 1)];
    const [from, to] = rest.split("=");
    if (kind === "in") {
      const near = /^\d+$/.test(from) ? { fd: Number(from) } : { path: from };
      if (near.path !== undefined) {
        fs.rmSync(near.path, { force: true });
      }
      await listen(near, { host: "127.0.0.1", port: Number(to) });
    } else {
      const [, host, port] = /^([\w.-]+):(\d+)$/.exec(to) ?? [];
      const far = host === undefined ? { path: to } : { host, port: Number(port) };
      await listen({ host: "127.0.0.1", port: Number(from) }, far);
    }
  }
  showExamples();
  // The workspace's files, where there is an object storage.
  const { startSync } = await import(`${__dirname}/sync.mjs`);
  const finish = process.argv.includes("sync") && process.argv.indexOf("sync") < end ? startSync() : async () => {};
  if (command === undefined) {
    // Beside a server that is a container of its own.
    for (const name of ["SIGTERM", "SIGINT"]) {
      process.once(name, () => {
        setTimeout(() => process.exit(0), FINISH_MS);
        finish().finally(() => process.exit(0));
      });
    }
    return;
  }
  const child = spawn(command, args, { stdio: ["ignore", "inherit", "inherit"] });
  child.on("error", (error) => {
    process.stderr.write(`${error.message}\n`);
    process.exit(error.code === "ENOENT" ? 127 : 126);
  });
  for (const name of ["SIGTERM", "SIGINT", "SIGHUP"]) {
    process.on(name, () => child.kill(name));
  }
  child.on("exit", (code, signal) => {
    const status = code ?? 128 + (constants.signals[signal] ?? 1);
    setTimeout(() => process.exit(status), FINISH_MS);
    finish().finally(() => process.exit(status));
  });
})().catch((error) => {
  process.stderr.write(`${error.message}\n`);
  process.exit(126);
});
