import { EventEmitter } from "node:events";

import type { Logger } from "@swath/service/log";

import type { Plan } from "../../../platform/plan.ts";
import { openBundles } from "../../../programs/bundles.ts";
import type { PodStatus } from "../../pod-status.ts";
import type { ServiceAccounts } from "../accounts/service-accounts.ts";
import { createCodeVersions } from "../launch/code-version.ts";
import { INGRESS, ingressSpec } from "../launch/ingress-spec.ts";
import { type LaunchSpec, createLaunchSpec } from "../launch/launch-spec.ts";
import { readJsonFile, writeJsonFile } from "../state/json-file.ts";
import type { ClusterPaths } from "../state/paths.ts";
import { openOtherReader, openSecretStore } from "../state/secrets.ts";
import type { ClusterSettings } from "../state/cluster-settings.ts";
import { CertificateKeeper } from "./certificate-keeper.ts";
import { createIngressConfigWriter } from "./ingress-config-writer.ts";
import { removeOldLogs, rotateLogs } from "./log-files.ts";
import type { PodRecord } from "./pod.ts";
import { findMainProcess, findMarkedProcesses, signalProcess } from "./processes.ts";
import { WorkloadController } from "./workload-controller.ts";

/** What the cluster should be running; kept so that a new supervisor carries on. */
export interface DesiredState {
  readonly plan: Plan;
  readonly cluster: ClusterSettings;
  /** `swath stop` keeps the plan and stops the pods. */
  readonly stopped?: boolean;
}

interface SupervisorOptions {
  readonly paths: ClusterPaths;
  /** Undefined where all services run as the operator. */
  readonly accounts: ServiceAccounts | undefined;
  readonly logger: Logger;
}

const TICK_MS = 1000;
const ROTATE_EVERY_TICKS = 10;

/** Drives all workloads of a cluster towards the desired state, event by event. Emits `change`. */
export class Supervisor extends EventEmitter<{ change: [] }> {
  readonly #paths: ClusterPaths;
  readonly #accounts: ServiceAccounts | undefined;
  readonly #logger: Logger;
  readonly #controllers = new Map<string, WorkloadController>();
  #desired: DesiredState | undefined;
  #order: readonly LaunchSpec[] = [];
  #scheduled = false;
  #savedPods = "";
  #ticks = 0;
  readonly #certificates: CertificateKeeper;
  #timer: NodeJS.Timeout | undefined;
  readonly #writeIngressConfig: ReturnType<typeof createIngressConfigWriter>;

  constructor({ paths, accounts, logger }: SupervisorOptions) {
    super();
    this.#paths = paths;
    this.#accounts = accounts;
    this.#logger = logger;
    this.#writeIngressConfig = createIngressConfigWriter(paths, accounts?.ingressGroup);
    this.#certificates = new CertificateKeeper({
      paths,
      logger,
      // Where this machine has none, the operator's own server leads to the responses.
      isIngressServing: () =>
        !this.#order.some(({ workload }) => workload.name === INGRESS) ||
        this.#controllers.get(INGRESS)?.isServing === true,
      onChange: () => {
        // The configuration may name the same file: the ingress reads it again when told.
        this.#controllers.get(INGRESS)?.serving?.signal("SIGHUP");
        this.#schedule();
      },
    });
  }

  get desired(): DesiredState | undefined {
    return this.#desired;
  }

  /** Reads what was desired last, takes over the pods that still run, and starts the rest. */
  async start(): Promise<void> {
    const desired = readJsonFile<DesiredState>(this.#paths.planFile);
    const records = readJsonFile<readonly PodRecord[]>(this.#paths.podsFile) ?? [];
    if (desired !== undefined) {
      await this.#certificates.ensure(desired.plan);
      this.#desire(desired);
    }
    this.#adopt(records);
    this.#timer = setInterval(() => this.#tick(), TICK_MS);
    this.#schedule();
  }

  /** Makes this the desired state; it holds from here on, also after a kill. */
  async apply(desired: DesiredState): Promise<void> {
    // Resolved first: a plan that cannot be launched must not replace one that can.
    this.#specsOf(desired);
    await this.#certificates.ensure(desired.plan);
    writeJsonFile(this.#paths.planFile, desired);
    this.#desire(desired);
    this.#logger.info({ workloads: this.#order.length }, "applied a plan");
    this.#schedule();
  }

  /** Stops every pod, those that others need last, and resolves when none is left. */
  async stopAll(): Promise<void> {
    if (this.#desired !== undefined) {
      this.#desired = { ...this.#desired, stopped: true };
    }
    const waves = stopWaves(this.#order);
    for (const wave of waves) {
      const pods = wave.flatMap((name) => this.#controllers.get(name)?.pods ?? []);
      for (const name of wave) {
        const controller = this.#controllers.get(name);
        if (controller !== undefined) {
          controller.desired = undefined;
        }
      }
      await Promise.all(pods.map((pod) => pod.stop()));
    }
    const rest = [...this.#controllers.values()].flatMap(({ pods }) => pods);
    await Promise.all(rest.map((pod) => pod.stop()));
    this.#reconcile();
  }

  /** Leaves all pods running and stops watching. */
  release(): void {
    clearInterval(this.#timer);
    this.#certificates.close();
    this.#savePods();
    for (const controller of this.#controllers.values()) {
      for (const pod of controller.pods) {
        pod.release();
      }
    }
  }

  /** Restarts a pod by its name, or all pods of a workload. Gives the names that were meant. */
  restart(name: string): readonly string[] {
    const pods = [...this.#controllers.values()]
      .flatMap((controller) => controller.pods)
      .filter((pod) => (pod.name === name || pod.spec.workload.name === name) && !pod.stopping);
    for (const pod of pods) {
      pod.restart();
    }
    return pods.map((pod) => pod.name);
  }

  get pods(): readonly PodStatus[] {
    return [...this.#controllers.values()].flatMap((controller) =>
      controller.pods
        .filter(({ gone }) => !gone)
        .map((pod) => ({
          namespace: pod.spec.workload.namespace,
          name: pod.name,
          workload: pod.spec.workload.name,
          component: pod.spec.workload.component,
          phase: pod.phase,
          ready: pod.ready,
          restarts: pod.restarts,
          createdAt: pod.createdAt,
          ...(pod.message !== undefined && { message: pod.message }),
          ...(pod.pid !== undefined && { pid: pod.pid }),
        })),
    );
  }

  #desire(desired: DesiredState): void {
    this.#desired = desired;
    this.#order = desired.stopped ? [] : this.#specsOf(desired);
    for (const spec of this.#order) {
      this.#controller(spec.workload.name).desired = spec;
    }
    const requested = new Set(this.#order.map(({ workload }) => workload.name));
    for (const controller of this.#controllers.values()) {
      if (!requested.has(controller.name)) {
        controller.desired = undefined;
      }
    }
  }

  #specsOf({ plan, cluster }: DesiredState): readonly LaunchSpec[] {
    const codeVersion = createCodeVersions();
    const readSecret = openSecretStore(this.#paths.secretsFile);
    const readOther = openOtherReader(this.#paths.secretsFile);
    const accounts = this.#accounts?.plan(plan);
    const context = { plan, paths: this.#paths, readSecret, readOther, codeVersion, accounts };
    const bundleOf = openBundles(codeVersion);
    return [
      ...plan.workloads.map((workload) => createLaunchSpec(workload, context)),
      ...(plan.settings.variables.REQUIRE_INGRESS_CONTROLLER
        ? [ingressSpec({ cluster, paths: this.#paths, account: accounts?.get(INGRESS), codeVersion })]
        : []),
    ].map((spec) => ({ ...spec, bundle: bundleOf(spec.program) }));
  }

  #controller(name: string): WorkloadController {
    const existing = this.#controllers.get(name);
    if (existing !== undefined) {
      return existing;
    }
    const made = new WorkloadController(name, {
      paths: this.#paths,
      accounts: this.#accounts,
      onChange: () => this.#schedule(),
    });
    this.#controllers.set(name, made);
    return made;
  }

  #adopt(records: readonly PodRecord[]): void {
    const processes = findMarkedProcesses(this.#paths.id);
    const adopted = new Set<string>();
    for (const record of records) {
      const spec = this.#order.find(({ workload }) => workload.name === record.workload);
      const main = findMainProcess(processes.filter(({ pod }) => pod === record.name));
      if (spec === undefined || (main === undefined && !(record.completed && record.hash === spec.hash))) {
        continue;
      }
      // Its own hash, so that one of an older definition is replaced in the ordinary way.
      const pod = this.#controller(record.workload).adopt(record, { ...spec, hash: record.hash });
      adopted.add(record.name);
      if (main !== undefined && !record.completed) {
        pod.adopt(main.pid, main.startedAt);
        this.#logger.info({ pod: record.name, pid: main.pid }, "took over a running pod");
      }
    }
    for (const { pid, pod } of processes.filter((candidate) => !adopted.has(candidate.pod))) {
      this.#logger.warn({ pod, pid }, "stopped a process that nobody accounts for");
      signalProcess(pid, "SIGKILL");
    }
  }

  #tick(): void {
    this.#ticks += 1;
    if (this.#ticks % ROTATE_EVERY_TICKS === 0) {
      try {
        rotateLogs(this.#paths.logs);
        removeOldLogs(this.#paths.logs, new Set(this.pods.map(({ name }) => name)));
      } catch (error) {
        // A full disk must not take the pods down with it; the next round tries again.
        this.#logger.error({ err: error }, "logs could not be turned over");
      }
    }
    if (this.#desired !== undefined && !this.#desired.stopped) {
      this.#certificates.tick();
    }
    this.#reconcile();
  }

  #schedule(): void {
    if (!this.#scheduled) {
      this.#scheduled = true;
      setImmediate(() => {
        this.#scheduled = false;
        this.#reconcile();
      });
    }
  }

  #reconcile(): void {
    for (const { workload } of this.#order) {
      const waiting = (workload.needs ?? []).filter((need) => !this.#controllers.get(need)?.isSatisfied);
      this.#controller(workload.name).reconcile(waiting.length > 0 ? `waiting for ${waiting.join(", ")}` : undefined);
    }
    for (const controller of this.#controllers.values()) {
      if (!this.#order.some(({ workload }) => workload.name === controller.name)) {
        controller.reconcile(undefined);
        if (controller.pods.length === 0) {
          this.#controllers.delete(controller.name);
        }
      }
    }
    if (this.#desired !== undefined) {
      this.#attempt("ingress configuration", () => {
        if (this.#desired !== undefined) {
          this.#writeIngressConfig(this.#desired, this.#certificates.certificates, (workload) =>
            this.#controllers.get(workload),
          );
        }
      });
    }
    this.#attempt("record of pods", () => this.#savePods());
    this.emit("change");
  }

  #savePods(): void {
    const records = [...this.#controllers.values()].flatMap(({ pods }) =>
      pods.filter(({ gone }) => !gone).map(({ record }) => record),
    );
    const text = JSON.stringify(records);
    if (text !== this.#savedPods) {
      writeJsonFile(this.#paths.podsFile, records);
      this.#savedPods = text;
    }
  }

  /** A full disk must not stop the pods: the next change or tick writes again. */
  #attempt(what: string, write: () => void): void {
    try {
      write();
    } catch (error) {
      this.#logger.error({ err: error }, `the ${what} could not be written`);
    }
  }
}

/** Names of workloads to stop together, in order: nobody stops before those that need it. */
function stopWaves(specs: readonly LaunchSpec[]): readonly (readonly string[])[] {
  const waves: string[][] = [];
  let left = specs.map(({ workload }) => workload);
  while (left.length > 0) {
    const wave = left.filter(({ name }) => !left.some(({ needs = [] }) => needs.includes(name)));
    if (wave.length === 0) {
      return [...waves, left.map(({ name }) => name)];
    }
    waves.push(wave.map(({ name }) => name));
    left = left.filter((workload) => !wave.includes(workload));
  }
  return waves;
}
