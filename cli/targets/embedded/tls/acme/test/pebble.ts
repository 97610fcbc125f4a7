// Pebble, the ACME test server of Let's Encrypt, and its DNS server, as Debian's package `pebble` brings them.
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Agent, request } from "undici";

import { findFreePorts } from "@swath/testing";

import { createLocalCa } from "../../local-ca.ts";

export interface Pebble {
  readonly directoryUrl: string;
  readonly port: number;
  /** What the server's own certificate leads to. */
  readonly caFile: string;
  /** Port that the server looks at for HTTP-01. */
  readonly httpPort: number;
  /** Address of the DNS server that it asks. */
  readonly dnsServer: string;
  /** The root of the certificates that it issues. */
  readonly readRoot: () => Promise<string>;
  /** What the server says of the renewal of a certificate from now on; releases since 2.7. */
  readonly setRenewalInfo: (certificate: string, info: object) => Promise<void>;
  /** Calls the management interface of the DNS server. */
  readonly dns: (path: string, body: object) => Promise<void>;
  readonly restart: (env?: Readonly<Record<string, string>>, config?: object) => Promise<void>;
  /** A power cut of the server alone; it forgets everything. */
  readonly halt: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

export interface PebbleOptions {
  readonly folder: string;
  readonly httpPort: number;
  /** Settings like PEBBLE_WFE_NONCEREJECT. */
  readonly env?: Readonly<Record<string, string>>;
  readonly config?: object;
  /** Another DNS server than that of the package. */
  readonly dnsServer?: string;
  /** Another release than the package's. */
  readonly program?: string;
  /** Name and address at which it listens; those of this machine's loopback interface when left out. */
  readonly at?: { readonly name: string; readonly address: string };
}

/** Why tests that need Pebble are skipped, or false. */
export function pebbleSkipReason(): string | false {
  try {
    execFileSync("sh", ["-c", "command -v pebble && command -v pebble-challtestsrv"], { stdio: "ignore" });
    return false;
  } catch {
    return "needs Debian's package pebble";
  }
}

export async function startPebble({
  folder,
  httpPort,
  env = {},
  config = {},
  dnsServer,
  program = "pebble",
  at = { name: "localhost", address: "127.0.0.1" },
}: PebbleOptions): Promise<Pebble> {
  mkdirSync(folder, { recursive: true });
  const [port = 0, management = 0, tls = 0, dnsPort = 0, dnsManagement = 0] = await findFreePorts(5);
  const ca = createLocalCa({ folder: join(folder, "ca"), domain: at.name });
  const { certPem, keyPem } = await ca.issue([at.name]);
  const files = { certificate: join(folder, "server.crt"), privateKey: join(folder, "server.key") };
  writeFileSync(files.certificate, certPem);
  writeFileSync(files.privateKey, keyPem);
  const configFile = join(folder, "pebble.json");
  const addresses = { listenAddress: `${at.address}:${port}`, managementListenAddress: `${at.address}:${management}` };
  const writeConfig = (more: object) =>
    writeFileSync(
      configFile,
      JSON.stringify({ pebble: { ...addresses, ...files, httpPort, tlsPort: tls, ...config, ...more } }),
    );
  writeConfig({});
  const dns =
    dnsServer === undefined
      ? spawn(
          "pebble-challtestsrv",
          `-http01= -https01= -tlsalpn01= -dns01=127.0.0.1:${dnsPort} -management=127.0.0.1:${dnsManagement} -defaultIPv6=`.split(
            " ",
          ),
          { stdio: "ignore" },
        )
      : undefined;
  const dnsAddress = dnsServer ?? `127.0.0.1:${dnsPort}`;
  const caFile = await ca.certificateFile();
  const agent = new Agent({ connect: { rejectUnauthorized: false } });
  let server: ChildProcess | undefined;
  const stopServer = async () => {
    if (server !== undefined && server.exitCode === null && server.signalCode === null) {
      server.kill("SIGKILL");
      await once(server, "exit");
    }
  };
  const start = async (more: Readonly<Record<string, string>>) => {
    const settings = { PEBBLE_VA_NOSLEEP: "1", PEBBLE_WFE_NONCEREJECT: "0", PEBBLE_AUTHZREUSE: "0", ...env, ...more };
    server = spawn(program, ["-config", configFile, "-strict", "-dnsserver", dnsAddress], {
      stdio: "ignore",
      env: { ...process.env, ...settings },
    });
    await waitUntilUp(`https://${at.name}:${port}/dir`, agent);
  };
  await start({});
  return {
    directoryUrl: `https://${at.name}:${port}/dir`,
    port,
    caFile,
    httpPort,
    dnsServer: dnsAddress,
    readRoot: async () => {
      const { body } = await request(`https://${at.name}:${management}/roots/0`, { dispatcher: agent });
      return body.text();
    },
    setRenewalInfo: async (certificate, info) => {
      const { statusCode, body } = await request(`https://${at.name}:${management}/set-renewal-info/`, {
        method: "POST",
        dispatcher: agent,
        body: JSON.stringify({ certificate, ariResponse: JSON.stringify(info) }),
      });
      const text = await body.text();
      if (statusCode !== 200) {
        throw new Error(`the renewal information was not taken: ${statusCode} ${text}`);
      }
    },
    dns: async (path, body) => {
      const response = await request(`http://127.0.0.1:${dnsManagement}/${path}`, {
        method: "POST",
        body: JSON.stringify(body),
      });
      await response.body.dump();
    },
    restart: async (more = {}, changes = {}) => {
      await stopServer();
      writeConfig(changes);
      await start(more);
    },
    halt: stopServer,
    stop: async () => {
      dns?.kill("SIGKILL");
      await stopServer();
      await agent.destroy();
    },
  };
}

async function waitUntilUp(url: string, dispatcher: Agent): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      const { body } = await request(url, { dispatcher });
      await body.dump();
      return;
    } catch (error) {
      if (attempt > 100) {
        throw error;
      }
      await sleep(50);
    }
  }
}
