import type { Plan } from "../../platform/plan.ts";
import type { PodStatus } from "../pod-status.ts";
import type { Target } from "../target.ts";
import type { ClusterAddress, Connection } from "./api/connection.ts";
import type { RollOutProgress } from "./apply/roll-out.ts";
import { KubernetesError } from "./kubernetes-error.ts";

interface TargetOptions {
  readonly clusterName: string;
  readonly address: ClusterAddress;
  readonly env: NodeJS.ProcessEnv;
  /** Called with who changes the deployment at present, when that has to be waited for. */
  readonly onWait?: (holder: string) => void;
}

/** A deployment on a Kubernetes cluster. The client is loaded at the first use: its import takes longer than most commands. */
export function createKubernetesTarget({ clusterName, address, env, onWait = () => {} }: TargetOptions): Target {
  let opened: Promise<Connection> | undefined;
  let applying: { readonly plan: Plan; readonly progress: RollOutProgress } | undefined;
  const open = () => {
    opened ??= import("./api/connection.ts").then(({ connect }) => connect(address));
    return opened;
  };
  const listPods = async (): Promise<readonly PodStatus[]> =>
    (await import("./pods/list-pods.ts")).listPods(await open(), clusterName);
  return {
    title: `Kubernetes cluster of context "${address.context ?? "(current)"}"`,
    apply: async (plan, { signal = new AbortController().signal, beforeChange, record } = {}) => {
      const connection = await open();
      const { deploy } = await import("./deploy.ts");
      const progress: RollOutProgress = { waiting: new Map(), done: new Set() };
      const { finish, release } = await deploy({
        connection,
        plan,
        env,
        progress,
        signal,
        onWait,
        ...(beforeChange && { beforeChange }),
        ...(record && { record }),
      });
      applying = { plan, progress };
      return { finished: finish(), release };
    },
    delete: async () => {
      const { undeploy } = await import("./deploy.ts");
      await undeploy({ connection: await open(), clusterName, env, onWait });
    },
    listPods,
    watchPods: async function* watch(signal) {
      const { watchPods } = await import("./pods/list-pods.ts");
      yield* watchPods({
        connection: await open(),
        clusterName,
        signal,
        ...(applying && { applying: { workloads: applying.plan.workloads, progress: applying.progress } }),
      });
    },
    restart: async (name) => (await import("./pods/restart.ts")).restartPods(await open(), clusterName, name),
    tailLog: async (pod, lines) => (await import("./pods/logs.ts")).tailLog(await open(), clusterName, pod, lines),
    followLog: async function* follow(pod, lines, signal) {
      const { followLog } = await import("./pods/logs.ts");
      yield* followLog(await open(), clusterName, pod, lines, signal);
    },
    readMetrics: async (pod) => (await import("./pods/read-metrics.ts")).readMetrics(await open(), pod),
    readPlan: async () => (await import("./state/record.ts")).readPlan(await open(), clusterName),
    releases: {
      read: async () => (await import("./state/releases.ts")).readReleases(await open(), clusterName),
      write: async (releases) =>
        (await import("./state/releases.ts")).writeReleases(await open(), clusterName, releases),
    },
    readSecret: async (secret) => (await import("./state/generated-secrets.ts")).readSecret(await open(), secret),
    readSecrets: async () => (await import("./state/generated-secrets.ts")).readGeneratedSecrets(await open()),
    changeSecrets: async (change) =>
      (await import("./state/generated-secrets.ts")).changeGeneratedSecrets(await open(), clusterName, change),
    forward: async (port) => {
      const connection = await open();
      const plan = await (await import("./state/record.ts")).readPlan(connection, clusterName);
      if (plan === undefined) {
        throw new KubernetesError(`nothing is deployed on the cluster of context "${connection.context}"`);
      }
      return (await import("./forward/open-forward.ts")).openForward({ connection, plan, port });
    },
    openDatabase: async () => {
      const connection = await open();
      const plan = await (await import("./state/record.ts")).readPlan(connection, clusterName);
      if (plan === undefined) {
        throw new KubernetesError(`nothing is deployed on the cluster of context "${connection.context}"`);
      }
      return (await import("./forward/open-database.ts")).openDatabase(connection, plan);
    },
    readAccess: async () => {
      const plan = await (await import("./state/record.ts")).readPlan(await open(), clusterName);
      const address = plan?.settings.publicIp;
      return address === undefined || address === "0.0.0.0" ? {} : { address };
    },
  };
}
