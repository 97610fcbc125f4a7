import type { JobSpec } from "@swath/cwl";

import { TOKEN_KEY, type StepFolder } from "../../step-files/step-files.ts";
import type { FileTransfer } from "./pod-spec.ts";
import { COLLECT, FETCH } from "./pod-types.ts";

/** Where the containers beside a tool see its volumes, and their token. */
const FOLDER = "/step";
const TOKEN_FOLDER = "/var/run/secrets/swath.io/files";
/** Memory of such a container: a small program of Node.js that streams. */
const MEMORY_MIB = 64;
const MAX_MEMORY_MIB = 256;

/** Volumes of a pod that is alone with its files. The kubelet ends a pod that holds more than the limit of a volume. */
export function stepVolumes(
  { files, maxDiskMiB }: FileTransfer,
  { outdirLimitMiB, tmpdirLimitMiB }: Pick<JobSpec, "outdirLimitMiB" | "tmpdirLimitMiB">,
): readonly object[] {
  const limit = (mebibytes: number | undefined) => ({
    emptyDir: { sizeLimit: `${Math.max(1, Math.ceil(Math.min(mebibytes ?? maxDiskMiB, maxDiskMiB)))}Mi` },
  });
  return [
    { name: "outdir", ...limit(outdirLimitMiB) },
    { name: "tmpdir", ...limit(tmpdirLimitMiB) },
    { name: "inputs", ...limit(undefined) },
    { name: "files-token", secret: { secretName: files.secretName } },
  ];
}

/** The container that brings a tool's inputs, and the one that stores what it leaves. Only they have the token. */
export function createStepContainers(
  { image, agentUrl, job }: FileTransfer,
  pod: string,
  folders: readonly StepFolder[],
): { readonly fetch: object; readonly collect: object } {
  const outputs = folders.filter(({ isOutput }) => isOutput).map(({ root }) => root);
  const create = (name: string, more: Readonly<Record<string, string>>, readOnly: boolean) => ({
    name,
    image,
    imagePullPolicy: "IfNotPresent",
    command: ["swath", "serve", "ades", "step-files/main"],
    terminationMessagePolicy: "FallbackToLogsOnError",
    env: Object.entries({
      STEP_ACTION: name,
      STEP_FOLDER: FOLDER,
      STEP_FILES_URL: agentUrl,
      STEP_JOB: job,
      STEP_POD: pod,
      STEP_TOKEN_FILE: `${TOKEN_FOLDER}/${TOKEN_KEY}`,
      ...more,
    }).map(([variable, value]) => ({ name: variable, value })),
    resources: {
      requests: { cpu: "10m", memory: `${MEMORY_MIB}Mi` },
      limits: { memory: `${MAX_MEMORY_MIB}Mi` },
    },
    volumeMounts: [
      ...["outdir", "tmpdir", "inputs"].map((volume) => ({ name: volume, mountPath: `${FOLDER}/${volume}`, readOnly })),
      { name: "files-token", mountPath: TOKEN_FOLDER, readOnly: true },
    ],
    securityContext: {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ["ALL"] },
    },
  });
  return {
    fetch: create(FETCH, {}, false),
    collect: create(COLLECT, { STEP_COLLECT: outputs.join(",") }, true),
  };
}
