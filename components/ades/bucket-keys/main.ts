// Makes the processing service's buckets in the deployed object storage, with a key for each. It alone has the root user's keys.
import { createLogger, createPeer, defineSettings, loadSettings } from "@swath/service";
import { createObjstoreAdmin } from "@swath/storage-admin";

import { putBucketKeys } from "./put-bucket-keys.ts";

const secret = (description: string) => ({ kind: "string", secret: true, description }) as const;
const settings = defineSettings({
  OBJSTORE_ADMIN_URL: { kind: "string", description: "Administration API of the object storage." },
  OBJSTORE_ROOT_USER: { kind: "string", description: "Its root user." },
  OBJSTORE_ROOT_PASSWORD: secret("The root user's secret key."),
  STAGEOUT_BUCKET: { kind: "string", default: "results", description: "Bucket of results." },
  RESULTS_KEY: secret("Secret of the key that opens it."),
  RESULTS_KEY_ALSO: { ...secret("The other one while it is being changed."), optional: true },
  STEP_FILES_BUCKET: { kind: "string", default: "processing-steps", description: "Bucket with files of steps." },
  STEP_FILES_KEY: secret("Secret of the key that opens it."),
  STEP_FILES_KEY_ALSO: { ...secret("The other one while it is being changed."), optional: true },
});
const logger = createLogger("ades-buckets", process.env["LOG_LEVEL"]);
try {
  const values = loadSettings(settings, process.env);
  const peer = createPeer(values.OBJSTORE_ADMIN_URL);
  const admin = createObjstoreAdmin({
    peer,
    user: values.OBJSTORE_ROOT_USER,
    password: values.OBJSTORE_ROOT_PASSWORD,
  });
  const list = (...secrets: (string | undefined)[]) => secrets.flatMap((each) => each || []);
  const buckets = [
    { bucket: values.STAGEOUT_BUCKET, secrets: list(values.RESULTS_KEY, values.RESULTS_KEY_ALSO) },
    { bucket: values.STEP_FILES_BUCKET, secrets: list(values.STEP_FILES_KEY, values.STEP_FILES_KEY_ALSO) },
  ];
  for (const keys of buckets) {
    await putBucketKeys(admin, keys);
  }
  await peer.close();
  logger.info({ buckets: buckets.map(({ bucket }) => bucket) }, "every bucket has its key");
} catch (error) {
  logger.fatal({ err: error }, "the keys of the buckets could not be made");
  process.exitCode = 1;
}
