import type { Fetch } from "../../../cli/targets/deployment-fetch.ts";
import { createRandom } from "../make-stream.ts";
import { pick } from "./hostile-values.ts";
import { KnownIds } from "./known-ids.ts";
import type { Credential } from "./credentials.ts";
import { type HostileRequest, makeRequest } from "./make-request.ts";
import { listRawRequests, sendRaw } from "./raw-requests.ts";
import type { Target } from "./targets.ts";
import type { PodWatch } from "./watch-pod.ts";

/** By so much more a stall may take that comes once alone: garbage is collected, code is compiled. */
const SINGLE_STALL_FACTOR = 6;
const REPEATS = 2;
/** Memory that a service may keep beyond what it had. */
const MAX_KEPT_BYTES = 300 << 20;
const TIMEOUT_MS = 60_000;
/** Totals are read after so many requests: putting them together costs the service milliseconds. */
const TOTALS_EVERY = 100;
/** A login that a request ended, or whose token expired, is made anew, at most so often. */
const LOG_IN_EVERY_MS = 5000;
const MAX_SHOWN = 5;
const RAW_PATHS = 2;
/** Answers of a service that are no fault: what it does not offer, and what it refuses to hold. */
const HARMLESS = new Set([501, 507]);

export interface Finding {
  readonly service: string;
  readonly what: string;
  readonly request?: HostileRequest;
}

interface ServiceOptions extends Target {
  readonly user: string;
  /** Where the service itself listens, past the ingress. */
  readonly socketPath: string;
  readonly send: Fetch;
  readonly watch: PodWatch;
  readonly seed: number;
  readonly milliseconds: number;
  readonly maxStallMs: number;
  readonly print: (line: string) => void;
}

/** Sends hostile requests to one service, one at a time so that a stall belongs to its request, and prints the worst stalls. */
export async function fuzzService(options: ServiceOptions): Promise<readonly Finding[]> {
  const { service, operations, watch, seed, milliseconds, maxStallMs, print } = options;
  const findings: Finding[] = [];
  // Printed when it is found: a run of an hour tells at once what there is to repair.
  const report = (what: string, request?: HostileRequest) => {
    findings.push({ service, what, ...(request && { request }) });
    print(`${service}: found: ${what}${request === undefined ? "" : `\n  ${describeRequest(request)}`}`);
  };
  const random = createRandom(seed);
  const ids = new KnownIds(options.user, options.kept);
  // The worst alone: all requests of an hour with their bodies do not fit into memory.
  let worst: readonly { readonly ms: number; readonly request: HostileRequest }[] = [];
  const before = await watch.readTotals();
  // The first reading starts the meter.
  await watch.readStallMs();
  let { faults } = before;
  let requests = 0;
  await sendRawRequests(options, random, report);
  let credentials = await options.logIn();
  let loggedInAt = performance.now();
  // Raw requests that wait for more bytes take seconds each: they leave the others their time.
  const until = performance.now() + milliseconds;
  for (; operations.length > 0 && performance.now() < until; requests += 1) {
    const request = makeRequest(random, operations[requests % operations.length]!, ids, options.vocabulary);
    const credential = request.method === "DELETE" ? credentials[0]! : pick(random, credentials);
    const { status, text } = await perform(options, request, credential);
    if (status === 401 && performance.now() > loggedInAt + LOG_IN_EVERY_MS) {
      // Where that fails, the requests before it slowed logins down.
      credentials = await options.logIn().catch(() => credentials);
      loggedInAt = performance.now();
      await watch.readStallMs();
    }
    if (status === undefined || (status >= 500 && !HARMLESS.has(status))) {
      report(`${status ?? "no answer"} ${text.slice(0, 200)}`, request);
    } else if (status === 200) {
      ids.learn(text);
    }
    try {
      const ms = await watch.readStallMs();
      worst = [...worst, { ms, request }].toSorted((a, b) => b.ms - a.ms).slice(0, MAX_SHOWN);
      if (ms > maxStallMs) {
        const least = Math.min(ms, ...(await repeat(options, request, credential)));
        if (least > maxStallMs || ms > maxStallMs * SINGLE_STALL_FACTOR) {
          report(`the event loop stood still for ${ms.toFixed(0)} ms, for ${least.toFixed(0)} when repeated`, request);
        }
      }
      if (requests % TOTALS_EVERY === 0) {
        const totals = await watch.readTotals();
        if (totals.faults > faults) {
          report("an error that nothing caught, of this request or of those before it", request);
        }
        ({ faults } = totals);
        await watch.readStallMs();
      }
    } catch (error) {
      report(`the process ended: ${(error as Error).message}`, request);
      break;
    }
  }
  print(`${service}: ${requests} requests of ${operations.length} operations; worst stalls:`);
  for (const { ms, request } of worst) {
    print(`  ${ms.toFixed(0).padStart(5)} ms  ${describeRequest(request)}`);
  }
  await watch.readTotals().then(
    (after) => {
      if (after.faults > faults) {
        report("an error that nothing caught, of one of the last requests");
      }
      const kept = after.residentBytes - before.residentBytes;
      print(`  ${(kept / 2 ** 20).toFixed(0).padStart(5)} MiB more than before`);
      if (kept > MAX_KEPT_BYTES) {
        report(`keeps ${(kept / 2 ** 20).toFixed(0)} MiB`);
      }
    },
    // Its end has been reported.
    () => {},
  );
  return findings;
}

/** Each at the root, and a few at operations that may read a body. */
async function sendRawRequests(
  { service, url, operations, socketPath, watch, maxStallMs }: ServiceOptions,
  random: (below: number) => number,
  report: (what: string) => void,
): Promise<void> {
  const withBody = operations.filter(([method]) => method === "post" || method === "put");
  const paths = Array.from({ length: Math.min(RAW_PATHS, withBody.length) }, () =>
    pick(random, withBody)[1].replaceAll(/\{[^}]*\}/g, "a"),
  );
  for (const request of listRawRequests(new URL(url).host, paths)) {
    const status = await sendRaw(socketPath, request);
    if (status !== undefined && status >= 500 && !HARMLESS.has(status)) {
      report(`${status} to a raw request: ${request.name}`);
    }
    try {
      const ms = await watch.readStallMs();
      if (ms > maxStallMs * SINGLE_STALL_FACTOR) {
        report(`the event loop stood still for ${ms.toFixed(0)} ms by a raw request: ${request.name}`);
      }
    } catch (error) {
      report(`the process of ${service} ended by a raw request: ${request.name}: ${(error as Error).message}`);
      return;
    }
  }
}

/** Stalls of the same request, sent again. */
async function repeat(
  options: ServiceOptions,
  request: HostileRequest,
  credential: Credential,
): Promise<readonly number[]> {
  const stalls: number[] = [];
  for (let round = 0; round < REPEATS; round += 1) {
    await perform(options, request, credential);
    stalls.push(await options.watch.readStallMs());
  }
  return stalls;
}

async function perform(
  { send, url }: ServiceOptions,
  request: HostileRequest,
  credential: Credential,
): Promise<{ readonly status: number | undefined; readonly text: string }> {
  const { method, path, headers, type, body } = request;
  try {
    const response = await send(`${url}${path}`, {
      method,
      redirect: "manual",
      signal: AbortSignal.timeout(TIMEOUT_MS),
      headers: {
        ...headers,
        ...(type !== undefined && { "content-type": type }),
        ...(await credential(request, url)),
      },
      ...(body !== undefined && method !== "GET" && method !== "HEAD" && { body }),
    });
    // Streams of events do not end.
    const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") === true;
    const text = isStream ? "" : await response.text();
    await response.body?.cancel().catch(() => {});
    return { status: response.status, text };
  } catch (error) {
    return { status: undefined, text: String((error as Error).cause ?? error) };
  }
}

export function describeRequest({ method, path, type, body }: HostileRequest): string {
  return `${method} ${path.slice(0, 200)}${body === undefined ? "" : ` ${type ?? ""} ${body.length} characters: ${body.slice(0, 100)}`}`;
}
