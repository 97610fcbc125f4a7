import { randomInt } from "node:crypto";
import { mkdirSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";

import type { ServiceAccounts } from "../accounts/service-accounts.ts";
import { giveSockets } from "../accounts/give-sockets.ts";
import { INGRESS } from "../launch/ingress-spec.ts";
import type { LaunchSpec } from "../launch/launch-spec.ts";
import type { ClusterPaths } from "../state/paths.ts";
import { Pod, type PodRecord } from "./pod.ts";

const ALPHABET = "bcdfghjklmnpqrstvwxz2456789";

interface ControllerOptions {
  readonly paths: ClusterPaths;
  readonly accounts: ServiceAccounts | undefined;
  readonly onChange: () => void;
}

/** Keeps one workload as it should be: starts it, replaces it when its definition changes, stops what is superfluous. */
export class WorkloadController {
  readonly name: string;
  #pods: readonly Pod[] = [];
  #desired: LaunchSpec | undefined;
  #linked: Pod | undefined;
  readonly #paths: ClusterPaths;
  readonly #accounts: ServiceAccounts | undefined;
  readonly #onChange: () => void;

  constructor(name: string, { paths, accounts, onChange }: ControllerOptions) {
    this.name = name;
    this.#paths = paths;
    this.#accounts = accounts;
    this.#onChange = onChange;
  }

  get pods(): readonly Pod[] {
    return this.#pods;
  }

  /** The pod of the wanted definition. */
  get current(): Pod | undefined {
    return this.#pods.find((pod) => !pod.stopping && pod.spec.hash === this.#desired?.hash);
  }

  /** Others that need this workload may start. */
  get isSatisfied(): boolean {
    const { current } = this;
    return current !== undefined && (current.ready || current.phase === "Completed");
  }

  /** The pod that takes requests at the moment, also while its successor starts. */
  get serving(): Pod | undefined {
    return this.#linked !== undefined && !this.#linked.gone ? this.#linked : undefined;
  }

  /** Somebody takes requests: the current pod, or the one before it while its successor starts. */
  get isServing(): boolean {
    return this.#pods.some(({ ready, gone }) => ready && !gone);
  }

  set desired(spec: LaunchSpec | undefined) {
    this.#desired = spec;
  }

  /** Takes over a pod of an earlier supervisor. */
  adopt(record: PodRecord, spec: LaunchSpec): Pod {
    const pod = this.#add(spec, record.name, record);
    this.#linked ??= pod;
    return pod;
  }

  /**
   * One step towards what is wanted.
   * @param waitingFor why it may not start yet, if so
   */
  reconcile(waitingFor: string | undefined): void {
    this.#pods = this.#pods.filter((pod) => !pod.gone);
    const desired = this.#desired;
    if (desired === undefined) {
      this.#stop(this.#pods);
      return;
    }
    const current = this.current ?? this.#add(desired, `${this.name}-${randomSuffix()}`);
    // What may change while it runs is what it is started with the next time.
    current.spec = desired;
    const others = this.#pods.filter((pod) => pod !== current);
    const recreate = desired.workload.strategy === "recreate" || desired.workload.kind === "task";
    // A program of runService is loaded while its predecessor still serves: no request waits for that.
    const loadsBeside = recreate && desired.workload.kind === "service" && desired.workload.probe !== "postgres";
    current.hasPredecessor = loadsBeside && others.length > 0;
    if (!current.isStarted) {
      if (recreate && !loadsBeside && others.length > 0) {
        this.#stop(others);
        current.wait("waiting for its predecessor to stop");
      } else if (waitingFor !== undefined) {
        current.wait(waitingFor);
      } else {
        this.#giveListeners(current, others);
        current.start();
      }
    } else if (current.waitsForPredecessor) {
      if (others.length > 0) {
        this.#stop(others);
      } else {
        current.proceed();
      }
    }
    if (current.isStarted && (current.ready || others.length === 0)) {
      this.#link(current);
    }
    if (this.isSatisfied) {
      this.#stop(others, { isReplaced: true });
    }
  }

  /** A successor listens beside the one that it relieves, also where that runs as another user. */
  #giveListeners({ spec }: Pod, others: readonly Pod[]): void {
    if (this.name === INGRESS) {
      for (const { pid } of others) {
        if (pid !== undefined) {
          giveSockets(pid, spec.account?.account?.uid ?? process.getuid?.() ?? 0);
        }
      }
    }
  }

  #add(spec: LaunchSpec, name: string, record?: PodRecord): Pod {
    const pod = new Pod({
      spec,
      name,
      record,
      paths: this.#paths,
      accounts: this.#accounts,
      onChange: this.#onChange,
    });
    this.#pods = [...this.#pods, pod];
    return pod;
  }

  #stop(pods: readonly Pod[], options?: { readonly isReplaced: boolean }): void {
    for (const pod of pods.filter(({ stopping }) => !stopping)) {
      void pod.stop(options);
    }
  }

  /** Turns the workload's stable address to this pod, in one step. */
  #link(pod: Pod): void {
    if (this.#linked === pod) {
      return;
    }
    const link = join(this.#paths.run, "svc", this.name);
    const unfinished = `${link}.new`;
    mkdirSync(dirname(link), { recursive: true });
    rmSync(unfinished, { force: true });
    symlinkSync(join("..", "pods", pod.name), unfinished);
    renameSync(unfinished, link);
    this.#linked = pod;
    this.#onChange();
  }
}

function randomSuffix(): string {
  return Array.from({ length: 5 }, () => ALPHABET[randomInt(ALPHABET.length)]).join("");
}
