import { readFileSync } from "node:fs";
import { type AddressInfo, type Server, type Socket, createServer } from "node:net";
import { networkInterfaces } from "node:os";
import { callbackify } from "node:util";
import {
  type SecureContext,
  type SecureContextOptions,
  type TLSSocket,
  Server as TlsServer,
  createSecureContext,
  createServer as createTlsServer,
} from "node:tls";

import type { LocalCa } from "../tls/local-ca.ts";
import { createWorkspaceCertificates } from "../tls/workspace-certificates.ts";
import type { Certificate, IngressConfig, Listener } from "./config.ts";
import type { Entrance } from "./client-connection.ts";

/** Certificates by the names that they are for. */
export interface CertificateStore {
  readonly find: (serverName: string) => SecureContext | undefined | Promise<SecureContext>;
  /** For clients that name no host (RFC 6066 §3 leaves it to them). */
  readonly fallback: SecureContextOptions | undefined;
}

/** Suites with authenticated encryption and forward secrecy alone (RFC 9325 §4.2): no CBC, no RSA key transport. */
const CIPHERS = [
  "TLS_AES_256_GCM_SHA384",
  "TLS_CHACHA20_POLY1305_SHA256",
  "TLS_AES_128_GCM_SHA256",
  "ECDHE-ECDSA-AES128-GCM-SHA256",
  "ECDHE-RSA-AES128-GCM-SHA256",
  "ECDHE-ECDSA-AES256-GCM-SHA384",
  "ECDHE-RSA-AES256-GCM-SHA384",
  "ECDHE-ECDSA-CHACHA20-POLY1305",
  "ECDHE-RSA-CHACHA20-POLY1305",
].join(":");

/**
 * Loads every certificate.
 * @throws {Error} naming the file that cannot be used
 */
export function loadCertificates(
  certificates: readonly Certificate[],
  workspaces?: IngressConfig["tls"]["workspaces"],
): CertificateStore {
  const byName = new Map<string, SecureContext>();
  let first: SecureContext | undefined;
  let fallback: SecureContextOptions | undefined;
  for (const { hosts, certFile, keyFile } of certificates) {
    let context: SecureContext;
    try {
      const options = {
        cert: readFileSync(certFile),
        key: readFileSync(keyFile),
        minVersion: "TLSv1.2",
        ciphers: CIPHERS,
      } as const;
      context = createSecureContext(options);
      fallback ??= options;
    } catch (error) {
      throw new Error(`the certificate ${certFile} with the key ${keyFile} cannot be used`, { cause: error });
    }
    first ??= context;
    for (const host of hosts) {
      byName.set(host, context);
    }
  }
  let issuer: Promise<LocalCa> | undefined;
  const onDemand =
    workspaces &&
    createWorkspaceCertificates({
      domain: workspaces.domain,
      tls: { minVersion: "TLSv1.2", ciphers: CIPHERS },
      // The libraries that sign are large, and most clusters never need them here.
      openIssuer: () =>
        (issuer ??= import("../tls/local-ca.ts").then(({ createLocalCa }) =>
          createLocalCa({ folder: workspaces.caFolder, domain: workspaces.domain }),
        )),
    });
  return {
    fallback,
    find: (serverName) => {
      const name = serverName.toLowerCase();
      return byName.get(name) ?? byName.get(`*${name.slice(name.indexOf("."))}`) ?? onDemand?.find(name) ?? first;
    },
  };
}

interface ListenOptions {
  /** Certificates in use now; read for every handshake. */
  readonly certificates: () => CertificateStore;
  readonly accept: (socket: Socket, entrance: Entrance) => void;
  readonly http2: boolean;
  /** Takes a connection on which HTTP/2 was agreed. */
  readonly acceptHttp2: (socket: TLSSocket, entrance: Entrance) => void;
  /** Whether another ingress may hold the address, to be relieved. Otherwise a taken address is an error. */
  readonly takeover: boolean;
}

export interface OpenListener {
  readonly key: string;
  readonly port: number;
  /** Takes over the certificate for clients that name no host. */
  readonly refresh: () => void;
  readonly close: () => void;
}

export function keyOfListener({ address, port, tls }: Listener): string {
  return `${address} ${port} ${tls ? "tls" : "plain"}`;
}

/**
 * Listens so that a successor may listen beside it (SO_REUSEPORT).
 * @throws {Error} when the address cannot be had
 */
export async function openListener(listener: Listener, options: ListenOptions): Promise<OpenListener> {
  if (!options.takeover && listener.port !== 0) {
    // With SO_REUSEPORT two clusters of one user could share a port and each get half of the requests.
    await claimAlone(listener);
  }
  const entrance = { tls: listener.tls, publicPort: listener.publicPort ?? listener.port };
  const accept = (socket: Socket) => options.accept(socket, entrance);
  const server = listener.tls
    ? createTlsServer(
        {
          ALPNProtocols: [...(options.http2 ? ["h2"] : []), "http/1.1"],
          handshakeTimeout: 10_000,
          noDelay: true,
          SNICallback: callbackify(async (name: string) => options.certificates().find(name)),
          minVersion: "TLSv1.2",
          ciphers: CIPHERS,
        },
        (socket: TLSSocket) => (socket.alpnProtocol === "h2" ? options.acceptHttp2(socket, entrance) : accept(socket)),
      )
    : createServer({ noDelay: true }, accept);
  // Handshakes that fail are the client's affair; sockets without a listener for errors would end the process.
  server.on("tlsClientError", () => {});
  await listenOn(server, listener, true);
  const { port } = server.address() as AddressInfo;
  entrance.publicPort = listener.publicPort ?? port;
  const refresh = () => {
    const { fallback } = options.certificates();
    if (server instanceof TlsServer && fallback !== undefined) {
      server.setSecureContext(fallback);
    }
  };
  refresh();
  return { key: keyOfListener(listener), port, refresh, close: () => server.close() };
}

/**
 * Whether an address cannot be had because the machine has no IPv6 any more: it was there when the cluster chose its addresses, and has
 * been switched off since. Everybody comes by IPv4 then.
 */
export function lacksIpv6({ address }: Listener, error: unknown, interfaces = networkInterfaces()): boolean {
  const cause = error instanceof Error ? (error.cause as NodeJS.ErrnoException | undefined) : undefined;
  if (Object.values(interfaces).some((entries) => entries?.some(({ family }) => family === "IPv6"))) {
    return false;
  }
  return address.includes(":") && ["EADDRNOTAVAIL", "EAFNOSUPPORT"].includes(cause?.code ?? "");
}

async function claimAlone(listener: Listener): Promise<void> {
  const probe = createServer();
  await listenOn(probe, listener, false);
  await new Promise((resolve) => probe.close(resolve));
}

async function listenOn(server: Server, { address, port }: Listener, reusePort: boolean): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => reject(explain(error, address, port)));
    server.listen({ host: address, port, reusePort, ipv6Only: address.includes(":"), backlog: 4096 }, resolve);
  });
  server.removeAllListeners("error").on("error", () => {});
}

function explain(error: NodeJS.ErrnoException, address: string, port: number): Error {
  const reasons: Readonly<Record<string, string>> = {
    EADDRINUSE: "another program has it; stop that program or choose another port",
    EACCES: "this user may not use ports below 1024; choose a higher one",
    EADDRNOTAVAIL: "this machine does not have that address",
  };
  const reason = reasons[error.code ?? ""] ?? error.message;
  return new Error(`cannot listen on ${address} port ${port}: ${reason}`, { cause: error });
}
