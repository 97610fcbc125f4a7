import type { ClusterApi } from "@swath/kubernetes/api";
import type { Logger } from "@swath/service";
import { setTimeout as sleep } from "node:timers/promises";

import { type Pod, containerState, podKeys } from "../execution/kubernetes/pod-types.ts";
import { podsPath } from "../execution/kubernetes/watch-pod.ts";

/** `running` for a tool that has not ended within the time that was waited; `gone` for a pod that there is not. */
export type ToolState = "running" | "ended" | "gone";

interface PodList {
  readonly metadata: { readonly resourceVersion: string };
  readonly items: readonly Pod[];
}

const RETRY_MS = 500;

/** Watches the tools' pods of this node, so that a container beside a tool hears of the tool's end without rights of its own. */
export class EndedTools {
  readonly #api: ClusterApi;
  readonly #node: string;
  readonly #logger: Logger;
  readonly #pods = new Map<string, Pod>();
  readonly #waiting = new Map<string, Set<() => void>>();
  readonly #stopped = new AbortController();
  #isWatching = false;

  constructor(api: ClusterApi, node: string, logger: Logger) {
    this.#api = api;
    this.#node = node;
    this.#logger = logger;
  }

  start(): void {
    void this.#watch();
  }

  stop(): void {
    this.#stopped.abort();
    for (const name of this.#waiting.keys()) {
      this.#wake(name);
    }
  }

  get isWatching(): boolean {
    return this.#isWatching;
  }

  /** Waits until the tool of a job's pod has ended. */
  async wait(job: string, name: string, timeoutMs: number, signal: AbortSignal): Promise<ToolState> {
    const deadline = AbortSignal.any([signal, this.#stopped.signal, AbortSignal.timeout(timeoutMs)]);
    while (!deadline.aborted) {
      const watched = this.#pods.get(name);
      // Where the cluster sends requests to the agents of other nodes, the pod is not among those watched here.
      const pod = watched ?? (await this.#api.get<Pod>(`${podsPath(this.#api.namespace)}/${name}`));
      if (pod === undefined || pod.metadata.labels?.[podKeys.job] !== job) {
        return "gone";
      }
      if (containerState(pod)?.terminated !== undefined) {
        return "ended";
      }
      await (watched === undefined
        ? sleep(RETRY_MS, undefined, { signal: deadline }).catch(() => {})
        : this.#change(name, deadline));
    }
    return "running";
  }

  #change(name: string, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const waiting = this.#waiting.get(name) ?? new Set();
      this.#waiting.set(name, waiting);
      const done = () => {
        waiting.delete(done);
        if (waiting.size === 0 && this.#waiting.get(name) === waiting) {
          this.#waiting.delete(name);
        }
        signal.removeEventListener("abort", done);
        resolve();
      };
      waiting.add(done);
      signal.addEventListener("abort", done, { once: true });
    });
  }

  #wake(name: string): void {
    for (const done of this.#waiting.get(name) ?? []) {
      done();
    }
  }

  async #watch(): Promise<void> {
    const { signal } = this.#stopped;
    const query = { labelSelector: podKeys.run, fieldSelector: `spec.nodeName=${this.#node}` };
    const path = podsPath(this.#api.namespace);
    while (!signal.aborted) {
      try {
        const list = await this.#api.get<PodList>(path, query);
        const names = new Set(list?.items.map(({ metadata }) => metadata.name));
        [...this.#pods.keys()].filter((name) => !names.has(name)).forEach((name) => this.#set(name, undefined));
        list?.items.forEach((pod) => this.#set(pod.metadata.name, pod));
        this.#isWatching = true;
        const resourceVersion = list?.metadata.resourceVersion ?? "0";
        for await (const { type, object } of this.#api.watch<Pod>(path, { ...query, resourceVersion }, signal)) {
          if (type !== "BOOKMARK") {
            this.#set(object.metadata.name, type === "DELETED" ? undefined : object);
          }
        }
      } catch (error) {
        if (!signal.aborted) {
          this.#logger.warn({ err: error }, "watch of tools' pods failed; retrying");
          await sleep(RETRY_MS, undefined, { signal }).catch(() => {});
        }
      }
    }
  }

  #set(name: string, pod: Pod | undefined): void {
    if (pod === undefined) {
      this.#pods.delete(name);
    } else {
      this.#pods.set(name, pod);
    }
    this.#wake(name);
  }
}
