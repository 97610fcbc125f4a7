import { ACCOUNT_FOLDER } from "@swath/kubernetes/account";
import { defineSettings } from "@swath/service";

/** Settings of the agent that hands files to the steps of a node. */
export const settings = defineSettings({
  S3_ENDPOINT: { kind: "string", description: "The object storage: an address inside the deployment, or public." },
  S3_REGION: { kind: "string", default: "us-east-1", description: "Its region." },
  S3_ACCESS_KEY: {
    kind: "string",
    optional: true,
    description:
      "Access key for STEP_FILES_BUCKET; made of S3_SECRET_KEY when left out, as the task `ades-buckets` makes it.",
  },
  S3_SECRET_KEY: { kind: "string", secret: true, description: "Its secret." },
  STEP_FILES_BUCKET: { kind: "string", default: "processing-steps", description: "Bucket with files of steps." },
  STEP_FILES_SECRET: { kind: "string", secret: true, description: "Key that the tokens of jobs are signed with." },
  STEP_FILES_SECRET_ALSO: {
    kind: "string",
    optional: true,
    secret: true,
    description: "The other one while it is being changed.",
  },
  CACHE_DIR: { kind: "string", description: "Folder of the cache; what is in it is removed at the start." },
  CACHE_MIB: { kind: "integer", default: 8192, minimum: 1, description: "Most that the cache holds." },
  KUBERNETES_API: { kind: "url", default: "https://kubernetes.default.svc", description: "The cluster's API server." },
  KUBERNETES_ACCOUNT: {
    kind: "string",
    default: ACCOUNT_FOLDER,
    description: "Folder of the service account: token, ca.crt, namespace.",
  },
});
