// The hostile clients of hostile.bench.ts: a process of its own, as what they make and read must not delay the requests that are measured.
import { type Target, createPlatform, findTargets } from "../test/fuzz/services/targets.ts";
import { createDeploymentFetch } from "../cli/targets/deployment-fetch.ts";
import { createRandom } from "../test/fuzz/make-stream.ts";
import { pick } from "../test/fuzz/services/hostile-values.ts";
import { KnownIds } from "../test/fuzz/services/known-ids.ts";
import { makeRequest } from "../test/fuzz/services/make-request.ts";
import { readServedRoutes } from "../test/fuzz/services/watch-pod.ts";

/** The first message: the pods to find targets of. */
export interface HostileSetUp {
  readonly domain: string;
  readonly port: number;
  readonly pods: readonly { readonly workload: string; readonly directory: string }[];
}
/** Each message after it. */
export interface HostileOrder {
  readonly service: string;
  readonly clients: number;
  readonly seed: number;
  readonly milliseconds: number;
}
/** What is found of the targets, and what was sent. */
export type HostileReport =
  | { readonly targets: readonly { readonly service: string; readonly url: string }[] }
  | { readonly sent: number };

const report = (message: HostileReport): boolean | undefined => process.send?.(message);
let targets: readonly Target[] = [];
let send: ReturnType<typeof createDeploymentFetch>;

process.on("message", (message: HostileSetUp | HostileOrder) => {
  if ("pods" in message) {
    void setUp(message);
  } else {
    void attack(message).then((sent) => report({ sent }));
  }
});

async function setUp({ domain, port, pods }: HostileSetUp): Promise<void> {
  send = createDeploymentFetch(domain, { address: "127.0.0.1" });
  const platform = createPlatform({ domain, port }, send);
  const found: Target[] = [];
  for (const { workload, directory } of pods) {
    found.push(...(await findTargets(platform, workload, await readServedRoutes(directory))).targets);
  }
  targets = found;
  report({ targets: found.map(({ service, url }) => ({ service, url })) });
}

/** @returns requests that were sent */
async function attack({ service, clients, seed, milliseconds }: HostileOrder): Promise<number> {
  const target = targets.find((each) => each.service === service);
  if (target === undefined) {
    throw new Error(`There is no target ${service}.`);
  }
  const credentials = await target.logIn();
  const end = AbortSignal.timeout(milliseconds);
  let sent = 0;
  const run = async (client: number): Promise<void> => {
    const random = createRandom(seed + client);
    const ids = new KnownIds("eric", target.kept);
    for (; !end.aborted; sent += 1) {
      const request = makeRequest(random, pick(random, target.operations), ids, target.vocabulary);
      const { method, type, body } = request;
      await send(`${target.url}${request.path}`, {
        method,
        redirect: "manual",
        signal: end,
        headers: {
          ...request.headers,
          ...(type !== undefined && { "content-type": type }),
          ...(await pick(random, credentials)(request, target.url)),
        },
        ...(body !== undefined && method !== "GET" && method !== "HEAD" && { body }),
      })
        .then(async (response) => {
          // Streams of events do not end.
          const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") === true;
          await (isStream ? response.body?.cancel() : response.arrayBuffer());
        })
        // Refused connections are part of it; the fuzz run looks at answers.
        .catch(() => {});
    }
  };
  await Promise.all(Array.from({ length: clients }, (_, client) => run(client)));
  return sent;
}
