import type { Fetch } from "../../../cli/targets/deployment-fetch.ts";
import { createRandom } from "../make-stream.ts";
import { pick } from "./hostile-values.ts";
import { KnownIds } from "./known-ids.ts";
import { type ApiDocument, type HostileRequest, listOperations, makeRequest } from "./make-request.ts";
import type { PodWatch } from "./watch-pod.ts";

/** By so much more a stall may take that comes once alone: garbage is collected, code is compiled. */
const SINGLE_STALL_FACTOR = 6;
const REPEATS = 2;
/** Memory that a service may keep beyond what it had. */
const MAX_KEPT_BYTES = 300 << 20;
const TIMEOUT_MS = 60_000;
/** Totals are read after so many requests: putting them together costs the service milliseconds. */
const TOTALS_EVERY = 100;
const MAX_SHOWN = 5;
/** Answers of a service that are no fault: what it does not offer, and what it refuses to hold. */
const HARMLESS = new Set([501, 507]);

export interface Finding {
  readonly service: string;
  readonly what: string;
  readonly request?: HostileRequest;
}

interface ServiceOptions {
  readonly service: string;
  readonly user: string;
  readonly document: ApiDocument;
  /** Of the user, and of others as whom it may be asked; nothing is deleted as those. */
  readonly tokens: readonly string[];
  readonly url: string;
  readonly send: Fetch;
  readonly watch: PodWatch;
  readonly seed: number;
  readonly milliseconds: number;
  readonly maxStallMs: number;
  readonly print: (line: string) => void;
}

/** Sends hostile requests to one service, one at a time so that a stall belongs to its request, and prints the worst stalls. */
export async function fuzzService(options: ServiceOptions): Promise<readonly Finding[]> {
  const { service, document, watch, seed, milliseconds, maxStallMs, print } = options;
  const findings: Finding[] = [];
  const report = (what: string, request?: HostileRequest) =>
    findings.push({ service, what, ...(request && { request }) });
  const operations = listOperations(document);
  const random = createRandom(seed);
  const ids = new KnownIds(options.user);
  const stalls: { readonly ms: number; readonly request: HostileRequest }[] = [];
  const before = await watch.readTotals();
  // The first reading starts the meter.
  await watch.readStallMs();
  let { faults } = before;
  let requests = 0;
  const until = performance.now() + milliseconds;
  for (; operations.length > 0 && performance.now() < until; requests += 1) {
    const request = makeRequest(random, operations[requests % operations.length]!, ids);
    const token = request.method === "DELETE" ? options.tokens[0]! : pick(random, options.tokens);
    const { status, text } = await perform(options, request, token);
    if (status === undefined || (status >= 500 && !HARMLESS.has(status))) {
      report(`${status ?? "no answer"} ${text.slice(0, 200)}`, request);
    } else if (status === 200) {
      ids.learn(text);
    }
    try {
      const ms = await watch.readStallMs();
      stalls.push({ ms, request });
      if (ms > maxStallMs) {
        const least = Math.min(ms, ...(await repeat(options, request, token)));
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
  const worst = stalls.toSorted((a, b) => b.ms - a.ms).slice(0, MAX_SHOWN);
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

/** Stalls of the same request, sent again. */
async function repeat(options: ServiceOptions, request: HostileRequest, token: string): Promise<readonly number[]> {
  const stalls: number[] = [];
  for (let round = 0; round < REPEATS; round += 1) {
    await perform(options, request, token);
    stalls.push(await options.watch.readStallMs());
  }
  return stalls;
}

async function perform(
  { send, url }: ServiceOptions,
  { method, path, type, body }: HostileRequest,
  token: string,
): Promise<{ readonly status: number | undefined; readonly text: string }> {
  try {
    const response = await send(`${url}${path}`, {
      method,
      redirect: "manual",
      signal: AbortSignal.timeout(TIMEOUT_MS),
      headers: { authorization: `Bearer ${token}`, ...(type !== undefined && { "content-type": type }) },
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
