import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findFreePort } from "@swath/testing";
import { setTimeout as sleep } from "node:timers/promises";

import { type Message, type Reading, toOriginForm } from "./messages.ts";

export const NGINX = "/usr/sbin/nginx";

export interface NginxReader {
  readonly read: (bytes: Buffer) => Promise<Reading>;
  readonly close: () => Promise<void>;
}

/** nginx as a proxy before a server that notes what arrives; one stream after the other. */
export async function startNginxReader(): Promise<NginxReader> {
  const folder = mkdtempSync(join(tmpdir(), "swath-fuzz-"));
  // Started as root, nginx opens sockets as another user.
  chmodSync(folder, 0o755);
  /** By the port of the client: what comes late belongs to a stream before. */
  const seen = new Map<string, Message[]>();
  const port = await findFreePort();
  const upstream = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const body = Buffer.concat(chunks).toString("latin1");
      const client = String(request.headers["x-fuzz-port"]);
      const message = { method: request.method ?? "", target: toOriginForm(request.url ?? ""), body };
      seen.set(client, [...(seen.get(client) ?? []), message]);
      response.end("ok");
    });
  });
  upstream.listen(join(folder, "upstream.sock"));
  await once(upstream, "listening");
  chmodSync(join(folder, "upstream.sock"), 0o777);
  writeFileSync(
    join(folder, "nginx.conf"),
    `daemon off; worker_processes 1; pid ${folder}/pid; error_log /dev/null;
events { worker_connections 64; }
http {
  access_log off; client_body_temp_path ${folder}/body; proxy_temp_path ${folder}/proxy;
  fastcgi_temp_path ${folder}/f; uwsgi_temp_path ${folder}/u; scgi_temp_path ${folder}/s;
  server { listen 127.0.0.1:${port}; underscores_in_headers on;
    location / { proxy_http_version 1.1; proxy_set_header Connection ""; proxy_set_header X-Fuzz-Port $remote_port; proxy_pass http://unix:${folder}/upstream.sock:; } }
}
`,
  );
  const nginx = spawn(NGINX, ["-c", join(folder, "nginx.conf"), "-p", folder], { stdio: "ignore" });
  for (let tries = 0; !existsSync(join(folder, "pid")); tries += 1) {
    if (tries > 200) {
      throw new Error("nginx did not start");
    }
    await sleep(50);
  }
  return {
    read: async (bytes) => {
      const client = connect(port, "127.0.0.1");
      client.on("error", () => {});
      await once(client, "connect");
      const own = String(client.localPort);
      seen.delete(own);
      client.resume();
      // The end of the stream lets nginx end, too, once it has answered.
      client.end(bytes);
      await Promise.race([once(client, "close"), sleep(5000)]);
      client.destroy();
      return { messages: [...(seen.get(own) ?? [])], end: "waiting" };
    },
    close: async () => {
      nginx.kill();
      await once(nginx, "exit");
      upstream.closeAllConnections();
      upstream.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
