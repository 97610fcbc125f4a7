// Runs inside a tool's isolation: leads a port of its own machine to the socket of the proxy outside, says so in the environment
// that programs read (curl's variables), and runs the tool. Plain JavaScript: nothing else of the platform is there.
"use strict";
const { spawn } = require("node:child_process");
const net = require("node:net");
const [socket, command, ...args] = process.argv.slice(2);
const server = net.createServer({ allowHalfOpen: true }, (near) => {
  const far = net.connect({ path: socket, allowHalfOpen: true });
  near.on("error", () => far.destroy());
  far.on("error", () => near.destroy());
  near.pipe(far).pipe(near);
});
server.listen(3128, "127.0.0.1", () => {
  const url = "http://127.0.0.1:3128";
  const names = ["http_proxy", "https_proxy", "all_proxy"].flatMap((name) => [name, name.toUpperCase()]);
  const child = spawn(command, args, {
    stdio: "inherit",
    // oxlint-disable-next-line node/no-process-env -- a program of its own; the tool gets its environment
    env: { ...process.env, ...Object.fromEntries(names.map((name) => [name, url])), NODE_USE_ENV_PROXY: "1" },
  });
  child.on("error", (error) => {
    process.stderr.write(`${error.message}\n`);
    process.exit(error.code === "ENOENT" ? 127 : 126);
  });
  child.on("exit", (code, signal) => {
    process.exit(code ?? 128 + (require("node:os").constants.signals[signal] ?? 1));
  });
});
