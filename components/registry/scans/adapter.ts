import { createAddressGuard } from "@swath/addresses";
import { Agent, request } from "undici";

import type { Scanner } from "../store/scanners.ts";

export const REPORT_TYPE = "application/vnd.security.vulnerability.report; version=1.1";
const OLD_REPORT_TYPE = "application/vnd.scanner.adapter.vuln.report.harbor+json; version=1.0";
const SCAN_TYPE = "application/vnd.scanner.adapter.scan.request+json; version=1.0";
const SECONDS = 60;
const MAX_BYTES = 32 << 20;
const DEFAULT_REFRESH_SECONDS = 5;
const MAX_REFRESH_SECONDS = 300;

/** What a scanner is to look at, and how it gets it (`ScanRequest` of the pluggable scanner API 1.1). */
export interface ScanRequest {
  readonly registry: { readonly url: string; readonly authorization: string };
  readonly artifact: {
    readonly repository: string;
    readonly digest: string;
    readonly tag?: string;
    readonly mime_type: string;
    readonly size: number;
  };
}

export type Report =
  | { readonly isReady: false; readonly refreshSeconds: number }
  | { readonly isReady: true; readonly document: Readonly<Record<string, unknown>> };

/** Requests to adapters of scanners. Private addresses are refused; redirects are not followed. */
export interface ScannerClient {
  readonly readMetadata: (scanner: Scanner) => Promise<Readonly<Record<string, unknown>>>;
  /** Gives the id of the scan. */
  readonly begin: (scanner: Scanner, scan: ScanRequest) => Promise<string>;
  readonly readReport: (scanner: Scanner, id: string) => Promise<Report>;
  readonly seal: (credential: string, url: string) => string;
  readonly close: () => Promise<void>;
}

interface ClientOptions {
  readonly allowPrivate: readonly string[];
  readonly sealer: {
    readonly seal: (text: string, context: string) => string;
    readonly open: (sealed: string, context: string) => string | undefined;
  };
}

export class ScannerError extends Error {
  override readonly name = "ScannerError";
}

export function createScannerClient({ allowPrivate, sealer }: ClientOptions): ScannerClient {
  const guard = createAddressGuard({
    allowPrivate,
    refuse: (where, address) =>
      new ScannerError(
        `${where} leads to ${address}, which is a private address; ask the operator to allow it (PROCESSING_ALLOW_PRIVATE)`,
      ),
  });
  const agent = new Agent({
    connect: { lookup: guard.lookup as never, timeout: 10_000 },
    headersTimeout: SECONDS * 1000,
    bodyTimeout: SECONDS * 1000,
  });
  const send = async (scanner: Scanner, method: "GET" | "POST", path: string, options: SendOptions) => {
    const url = new URL(`${scanner.url.replace(/\/+$/, "")}/api/v1${path}`);
    guard.checkHost(url.hostname, url.origin);
    const { statusCode, headers, body } = await request(url, {
      method,
      dispatcher: agent,
      signal: AbortSignal.timeout(SECONDS * 1000),
      headers: {
        accept: options.accept,
        ...toAuthorization(scanner, sealer),
        ...(options.body !== undefined && { "content-type": SCAN_TYPE }),
      },
      ...(options.body !== undefined && { body: JSON.stringify(options.body) }),
    });
    const chunks: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of body as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > MAX_BYTES) {
        throw new ScannerError(`The scanner's answer has more than ${MAX_BYTES} bytes.`);
      }
      chunks.push(chunk);
    }
    return { status: statusCode, headers, text: Buffer.concat(chunks).toString("utf8") };
  };
  return {
    readMetadata: async (scanner) => {
      const accept = "application/vnd.scanner.adapter.metadata+json; version=1.1, application/json";
      const { status, text } = await send(scanner, "GET", "/metadata", { accept });
      return parse(status, 200, text);
    },
    begin: async (scanner, scan) => {
      const accept = "application/vnd.scanner.adapter.scan.response+json; version=1.0, application/json";
      const { status, text } = await send(scanner, "POST", "/scan", { accept, body: scan });
      const { id } = parse(status, 202, text);
      if (typeof id !== "string" || !/^[\w.~-]{1,200}$/.test(id)) {
        throw new ScannerError("The scanner gives the scan no id.");
      }
      return id;
    },
    readReport: async (scanner, id) => {
      const accept = `${REPORT_TYPE}, ${OLD_REPORT_TYPE}`;
      const { status, headers, text } = await send(scanner, "GET", `/scan/${id}/report`, { accept });
      if (status === 302) {
        const seconds = Number(headers["refresh-after"] ?? DEFAULT_REFRESH_SECONDS);
        const isNumber = Number.isFinite(seconds) && seconds >= 1;
        return {
          isReady: false,
          refreshSeconds: isNumber ? Math.min(seconds, MAX_REFRESH_SECONDS) : DEFAULT_REFRESH_SECONDS,
        };
      }
      return { isReady: true, document: parse(status, 200, text) };
    },
    seal: sealer.seal,
    close: () => agent.destroy(),
  };
}

interface SendOptions {
  readonly accept: string;
  readonly body?: object;
}

function toAuthorization({ auth, sealedCredential, url }: Scanner, sealer: ClientOptions["sealer"]) {
  const credential = sealedCredential === undefined ? undefined : sealer.open(sealedCredential, url);
  if (auth === "" || credential === undefined) {
    return {};
  }
  return auth === "X-ScannerAdapter-API-Key"
    ? { "x-scanneradapter-api-key": credential }
    : { authorization: `${auth} ${auth === "Basic" ? Buffer.from(credential).toString("base64") : credential}` };
}

function parse(status: number, expected: number, text: string): Readonly<Record<string, unknown>> {
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch {
    document = undefined;
  }
  if (status !== expected) {
    const { error } = (document ?? {}) as { error?: { message?: unknown } };
    const said = typeof error?.message === "string" ? `: ${error.message.slice(0, 500)}` : "";
    throw new ScannerError(`The scanner answers ${status}${said}.`);
  }
  if (typeof document !== "object" || document === null || Array.isArray(document)) {
    throw new ScannerError("The scanner's answer is not a JSON object.");
  }
  return document as Readonly<Record<string, unknown>>;
}
