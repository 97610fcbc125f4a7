import { type KubernetesObject, toName } from "@swath/kubernetes";
import { type ClusterApi, ClusterApiError, retryWhileForbidden } from "@swath/kubernetes/api";
import { setTimeout as sleep } from "node:timers/promises";

import { overrideOf } from "../../profiles/quantities.ts";
import { insideEnvironment } from "../inside-environment.ts";
import type { Handle, Launch, Spawner } from "../spawner.ts";
import { createObjectPaths } from "./object-paths.ts";
import { type PlacedObject, createServerObjects } from "./pod-objects.ts";
import { EXAMPLES, FILES, HOME, type PodPlace } from "./pod-spec.ts";
import { readLife, readStart } from "./pod-state.ts";
import { type Pod, SERVER } from "./pod-types.ts";
import { readUsage } from "./pod-usage.ts";
import { ignoreExisting, openUserNamespace } from "./user-namespace.ts";
import { type Owner, ignoreForbidden, waitUntilCollected, waitUntilRemoved } from "./wait-until-gone.ts";

export interface PodSpawnerOptions {
  readonly api: ClusterApi;
  readonly workspacePrefix: string;
  readonly startTimeoutMs: number;
  /** What every server finds beside its home: the client for Python, the examples. */
  readonly files: Readonly<Record<string, string>>;
  readonly surroundings: Pick<
    PodPlace,
    "deployment" | "hub" | "image" | "storageClass" | "homeSize" | "hasStorage" | "pullSecrets"
  >;
}

const LOOK_MS = 300;
/** How long a registry that does not give an image, or a node that cannot start a container, is asked again. */
const TROUBLE_MS = 60_000;
const STOP_MS = 30_000;
const LOG_LINES = "200";
const DEFAULT_PORT = 8888;

/** Servers as pods `jupyter-<user>-<name>` in the namespaces of their users' workspaces, on the cluster that the hub runs in. */
export function createPodSpawner(options: PodSpawnerOptions): Spawner {
  const { api, files } = options;
  const paths = createObjectPaths(api);
  const planOf = ({ id, user, name }: Pick<Launch, "id" | "user" | "name">) => ({
    kind: "pod",
    id,
    namespace: toName(options.workspacePrefix, user),
    pod: name === "" ? toName("jupyter", user) : toName("jupyter", user, name),
  });
  const pathOf = (handle: Handle) => `/api/v1/namespaces/${String(handle["namespace"])}/pods/${String(handle["pod"])}`;
  const read = (handle: Handle) => api.get<Pod>(pathOf(handle));

  const make = async ({ object, lasts }: PlacedObject, namespace: string, server: Owned) => {
    const path = `${await paths.folderOf(object, namespace)}/${object.metadata.name}`;
    if (!lasts) {
      await waitUntilCollected(api, path, namespace);
    }
    await api.apply(path, lasts ? object : own(object, server), server.manager);
  };
  const makeVolume = async ({ object, lasts }: PlacedObject, namespace: string, server: Owned) => {
    const folder = await paths.folderOf(object, namespace);
    const path = `${folder}/${object.metadata.name}`;
    if (!lasts) {
      await waitUntilCollected(api, path, namespace);
    }
    const existing = await api.get<Pod>(path);
    if (existing?.metadata.deletionTimestamp !== undefined) {
      await waitUntilRemoved(api, path);
    }
    if (existing === undefined || existing.metadata.deletionTimestamp !== undefined) {
      await ignoreExisting(api.create(folder, lasts ? object : own(object, server)));
    } else if (!lasts) {
      const { name } = object.metadata;
      await api.apply(path, own({ ...object, spec: undefined, metadata: { name, namespace } }, server), server.manager);
    }
  };

  const stop = async (handle: Handle) => {
    const { namespace, pod, id } = handle;
    if (typeof pod !== "string" || typeof namespace !== "string") {
      return;
    }
    const remove = (path: string, more: object = {}) => api.remove(path, more).catch(ignoreForbidden);
    const path = pathOf(handle);
    // Nothing of another server that has the name since.
    const secret = `/api/v1/namespaces/${namespace}/secrets/${pod}`;
    const anchor = await api.get<KubernetesObject>(secret).catch(ignoreForbidden);
    if (typeof anchor !== "object" || Object.values(anchor.metadata.labels ?? {}).includes(String(id))) {
      await remove(path);
      for (
        const until = Date.now() + STOP_MS;
        (await api.get(path).catch(ignoreForbidden)) !== undefined;
        await sleep(LOOK_MS)
      ) {
        if (Date.now() > until) {
          // Its node is away: the cluster forgets it, and the node ends it when it is back.
          await remove(path, { gracePeriodSeconds: 0 });
          break;
        }
      }
      await remove(secret, { propagationPolicy: "Background" });
    }
  };

  return {
    whyNot: async (profile) => {
      const { image } = overrideOf(profile, {});
      return image === undefined || image === null || image === ""
        ? { reason: "the profile names no image (kubespawner_override.image), and servers are pods here" }
        : undefined;
    },
    plan: planOf,
    start: async (launch, handle, onEvent) => {
      const { namespace, pod } = planOf(launch);
      onEvent(`namespace ${namespace}, pod ${pod}`);
      await openUserNamespace(api, namespace, options.surroundings.deployment);
      const port = portOf(launch);
      const place: PodPlace = {
        ...options.surroundings,
        namespace,
        pod,
        port,
        files: Object.keys(files),
        environment: environmentOf(launch, port),
      };
      const objects = createServerObjects(launch, place, files);
      const secrets = `/api/v1/namespaces/${namespace}/secrets`;
      const anchor = await retryWhileForbidden(async () => {
        // Of a start that a hub before this one left in the middle.
        if (await api.remove(`${secrets}/${pod}`, { propagationPolicy: "Foreground" })) {
          await waitUntilRemoved(api, `${secrets}/${pod}`);
        }
        return api.create<{ metadata: { uid: string } }>(secrets, objects.anchor);
      });
      const server: Owned = {
        owner: { apiVersion: "v1", kind: "Secret", name: pod, uid: anchor.metadata.uid },
        manager: `application-hub-${launch.id}`,
      };
      for (const each of objects.volumes) {
        await makeVolume(each, namespace, server);
      }
      for (const each of objects.others) {
        await make(each, namespace, server);
      }
      await createPod(api, own(objects.pod, server), pathOf(handle));
      const address = await untilRunning(() => read(handle), options.startTimeoutMs, onEvent);
      const { embedded } = launch.profile;
      const ready = embedded?.kind === "browser" ? undefined : embedded?.ready_path;
      const host = address.includes(":") ? `[${address}]` : address;
      return {
        handle,
        target: { url: `http://${host}:${port}` },
        readyPath: `${launch.base}${ready ?? (launch.base === "/" ? "" : "api")}`,
      };
    },
    poll: async (handle) => readLife(await read(handle)),
    stop,
    usage: (handle) => readUsage(api, String(handle["namespace"]), String(handle["pod"])),
    log: async (handle) => {
      let text = "";
      const query = { container: SERVER, tailLines: LOG_LINES, limitBytes: "65536" };
      try {
        for await (const piece of api.stream(`${pathOf(handle)}/log`, query, AbortSignal.timeout(10_000))) {
          text += Buffer.from(piece).toString("utf8");
        }
      } catch (error) {
        // Before its container starts, and after the pod is gone, there is none.
        if (!(error instanceof ClusterApiError)) {
          throw error;
        }
      }
      return text;
    },
  };
}

/** One server's part in objects that several may have: each is an owner, and knows its own fields by a name of its own. */
interface Owned {
  readonly owner: Owner;
  readonly manager: string;
}

const own = (object: KubernetesObject, { owner }: Owned): object => ({
  ...object,
  metadata: { ...object.metadata, ownerReferences: [owner] },
});

function portOf({ profile, options }: Launch): number {
  const { embedded } = profile;
  const own = embedded?.kind === "container" ? embedded.port : undefined;
  return overrideOf(profile, options).port ?? own ?? DEFAULT_PORT;
}

/** What the server and the program beside it find; in a Secret, not in the pod's description. */
function environmentOf(launch: Launch, port: number): Readonly<Record<string, string>> {
  return {
    ...launch.env,
    ...overrideOf(launch.profile, launch.options).environment,
    ...pickHub(launch.env),
    HOME,
    USER: launch.user,
    NB_USER: "jovyan",
    PYTHONPATH: FILES,
    SWATH_EXAMPLES: EXAMPLES,
    SWATH_EGRESS: launch.profile.egress ?? "platform",
    ...insideEnvironment(launch, `http://0.0.0.0:${port}`),
  };
}

/** What a profile's own variables do not take the place of. */
const pickHub = (env: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(env).filter(([name]) => /^(JUPYTERHUB|JPY|SWATH|AWS)_/.test(name)));

/** @throws {Error} that says what the cluster or the workspace's quota has against it */
async function createPod(api: ClusterApi, pod: object, path: string): Promise<void> {
  // One that is ending still has the name.
  await waitUntilRemoved(api, path);
  try {
    await api.create(path.slice(0, path.lastIndexOf("/")), pod);
  } catch (error) {
    if (error instanceof ClusterApiError && error.reason === "AlreadyExists") {
      // The answer to an earlier request was lost.
      return;
    }
    if (error instanceof ClusterApiError && error.message.includes("exceeded quota")) {
      const [, rest = ""] = /exceeded quota: [^,]+, (.*)$/.exec(error.message) ?? [];
      throw new Error(
        `The quota of the workspace leaves no room for it (${rest}). Stop one of the servers or pods that run there, or choose a smaller size.`,
        { cause: error },
      );
    }
    throw error;
  }
}

/** Address of the pod once its program runs; tells what it waits for. @throws {Error} with the reason where it does not start */
async function untilRunning(
  read: () => Promise<Pod | undefined>,
  timeoutMs: number,
  onEvent: (message: string) => void,
): Promise<string> {
  const deadline = Date.now() + timeoutMs;
  let said = "";
  let troubleSince: number | undefined;
  for (;;) {
    const start = readStart(await read());
    if (start.kind === "running") {
      onEvent("its container runs");
      return start.address;
    }
    if (start.kind === "ended") {
      throw new Error(start.reason);
    }
    if (start.message !== said) {
      said = start.message;
      onEvent(said);
    }
    troubleSince = start.isTrouble ? (troubleSince ?? Date.now()) : undefined;
    if (troubleSince !== undefined && Date.now() - troubleSince > TROUBLE_MS) {
      throw new Error(`The cluster cannot start it: ${start.message}`);
    }
    if (Date.now() > deadline) {
      throw new Error(`It did not start within ${Math.round(timeoutMs / 1000)} seconds: ${start.message}`);
    }
    await sleep(LOOK_MS);
  }
}
