import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { type IncomingMessage, type RequestListener, type Server, createServer, request } from "node:http";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

import type { IngressConfig, Route } from "../config.ts";

/** A folder that `close` removes. */
export function makeFolder(): { readonly path: string; readonly close: () => void } {
  const path = mkdtempSync(join(tmpdir(), "swath-ingress-"));
  return { path, close: () => rmSync(path, { recursive: true, force: true }) };
}

/** A pod: an HTTP server on a unix socket. */
export async function startPod(socketPath: string, listener: RequestListener): Promise<Server> {
  rmSync(socketPath, { force: true });
  const server = createServer(listener);
  server.listen(socketPath);
  await once(server, "listening");
  return server;
}

export function routeTo(host: string, socketPath: string | null, more: Partial<Route> = {}): Route {
  return {
    host,
    service: host.split(".", 1)[0] as string,
    namespace: "test",
    upstream: socketPath === null ? null : { socketPath },
    ready: true,
    ...more,
  };
}

export function configOf(port: number, routes: readonly Route[], more: Partial<IngressConfig> = {}): IngressConfig {
  return {
    listeners: [{ address: "127.0.0.1", port, tls: false }],
    sslRedirect: false,
    routes,
    tls: { certificates: [] },
    ...more,
  };
}

/** Replaces a configuration as the supervisor does: whole, by rename. */
export function writeConfig(file: string, config: IngressConfig | string): void {
  writeFileSync(`${file}.new`, typeof config === "string" ? config : JSON.stringify(config));
  renameSync(`${file}.new`, file);
}

export interface IngressProcess {
  readonly child: ChildProcess;
  readonly lines: Record<string, unknown>[];
  /** Resolves with the first log line, past or to come, that `wanted` likes. */
  readonly waitFor: (desired: (line: Record<string, unknown>) => boolean) => Promise<Record<string, unknown>>;
  readonly stop: (signal?: NodeJS.Signals) => Promise<number | null>;
}

/** The ingress as its own process, as the supervisor starts it. */
export async function startIngress(file: string, env: Record<string, string> = {}): Promise<IngressProcess> {
  const child = spawn(process.execPath, [join(import.meta.dirname, "../main.ts")], {
    env: { ...process.env, INGRESS_CONFIG: file, INGRESS_GRACE: "5s", ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const lines: Record<string, unknown>[] = [];
  const waiting = new Set<() => void>();
  const reader = createInterface({ input: child.stdout });
  reader.on("line", (line) => {
    lines.push(JSON.parse(line) as Record<string, unknown>);
    for (const check of waiting) {
      check();
    }
  });
  const exited = new Promise<number | null>((resolve) => child.once("exit", resolve));
  const waitFor: IngressProcess["waitFor"] = async (desired) => {
    const found = new Promise<Record<string, unknown>>((resolve) => {
      const check = () => {
        const line = lines.find(desired);
        if (line !== undefined) {
          waiting.delete(check);
          resolve(line);
        }
      };
      waiting.add(check);
      check();
    });
    const ended = exited.then((code) => {
      throw new Error(`the ingress ended with ${code}: ${JSON.stringify(lines.slice(-3))}`);
    });
    ended.catch(() => {});
    return Promise.race([found, ended]);
  };
  const process_: IngressProcess = {
    child,
    lines,
    waitFor,
    stop: (signal = "SIGTERM") => {
      child.kill(signal);
      return exited;
    },
  };
  await waitFor(({ msg }) => msg === "listening" || msg === "the ingress cannot start");
  return process_;
}

export interface TestResponse {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  readonly trailers: IncomingMessage["trailers"];
  readonly body: string;
}

interface Asking {
  readonly port: number;
  readonly host: string;
  readonly path?: string;
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly body?: string | Buffer;
}

/** One request through the ingress on a connection of its own. */
export function send({ port, host, path = "/", method = "GET", headers = {}, body }: Asking): Promise<TestResponse> {
  return new Promise((resolve, reject) => {
    const sent = request({ host: "127.0.0.1", port, path, method, agent: false, headers: { host, ...headers } });
    sent.on("error", reject).on("response", (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk)).on("error", reject);
      response.on("end", () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          trailers: response.trailers,
          body: Buffer.concat(chunks).toString(),
        }),
      );
    });
    sent.end(body);
  });
}

/** Sends bytes as they are; resolves with everything that came back once the other side closes, or `until` appears. */
export function sendRaw(port: number, bytes: string | readonly string[], until?: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    let received = "";
    socket.on("data", (chunk) => {
      received += chunk.toString("latin1");
      if (until !== undefined && received.includes(until)) {
        socket.destroy();
      }
    });
    socket.on("error", () => {});
    socket.on("close", () => resolve(received));
    for (const part of typeof bytes === "string" ? [bytes] : bytes) {
      socket.write(part, "latin1");
    }
  });
}
