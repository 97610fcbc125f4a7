import type { BucketOperator } from "../clients/bucket-operator.ts";
import type { BucketOutputs } from "./bucket.ts";
import type { Step } from "./step.ts";

/**
 * The bucket of a workspace in an infrastructure cloud, made by the bucket operator, with keys that open it alone. Quotas are those that
 * the cloud gives the project; keys that only read are no part of what the operator makes.
 */
export function createCloudBucketStep(operator: BucketOperator): Step {
  return {
    name: "bucket",
    title: "Storage",
    apply: async ({ workspace, outputs, wasDone, save }) => {
      const { name, keyVersion } = workspace;
      await operator.ensure({ name, withKeys: true });
      const { access, secret, projectid } = await operator.readKeys(name);
      const known = (outputs as BucketOutputs | null)?.key;
      await save({ bucketname: name, projectid, key: { access, secret, keyVersion } } satisfies BucketOutputs);
      return wasDone && known !== undefined && known.access !== access
        ? [`the storage key of ${name} was gone; there is a new one`]
        : [];
    },
    remove: ({ workspace: { name, data } }) => operator.remove(name, data === "purge" ? "purge" : "keep"),
  };
}
