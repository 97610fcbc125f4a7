import { type Settings, createPeer } from "@swath/service";
import type { Kysely } from "kysely";

import { openAccount } from "@swath/kubernetes/account";
import { type ClusterApi, openClusterApi } from "@swath/kubernetes/api";
import { type StorageAdmin, createObjstoreAdmin, emptyBucket, withStorageClient } from "@swath/storage-admin";

import { createServiceTokens } from "../clients/service-token.ts";
import { type BucketOperator, openBucketOperator } from "../clients/bucket-operator.ts";
import { createIamStorage } from "../clients/iam-storage.ts";
import { createIdentityAdmin } from "../clients/identity-admin.ts";
import { createRegistryAdmin } from "../clients/registry-admin.ts";
import type { reconcilerSettings } from "../config.ts";
import type { Tables } from "../store/tables.ts";
import { listSteps } from "../store/steps.ts";
import { type BucketOutputs, createBucketStep } from "./bucket.ts";
import { createCloudBucketStep } from "./cloud-bucket.ts";
import { createNamespaceStep } from "./namespace.ts";
import { createOwnerStep } from "./owner.ts";
import { type WithStorage, createPlainBucketStep } from "./plain-bucket.ts";
import { createProtectionStep } from "./protection.ts";
import { createRegistryStep } from "./registry.ts";
import { createStorageRolesStep } from "./storage-roles.ts";
import type { Step } from "./step.ts";

type ReconcilerSettings = Settings<typeof reconcilerSettings>;

/** Every step, in the order of provisioning; what the deployment lacks is left out. To add one: its file, and its line here. */
export function createSteps(
  settings: ReconcilerSettings,
  db: Kysely<Tables>,
  /** Called before each request to the object storage's administration with its number; tests end the process there. */
  onCall?: (count: number) => void,
): { readonly steps: readonly Step[]; readonly close: () => Promise<void> } {
  const identity = openIdentity(settings);
  const storage = openStorage(settings, onCall);
  const cluster = openCluster(settings);
  const registry = openRegistry(settings);
  return {
    steps: [
      // Protection first: until it is there, nobody may ask how the rest is going.
      ...(identity
        ? [
            createOwnerStep(db, identity.admin),
            createProtectionStep(identity.admin, settings.PROTECTION_CLIENT, settings.IDENTITY_ADMIN_USER),
          ]
        : []),
      ...(storage?.steps ?? []),
      ...(cluster ? [createNamespaces(cluster, settings, db)] : []),
      ...(registry ? [createRegistryStep({ ...registry, cluster })] : []),
    ],
    close: async () => {
      await Promise.all([identity?.close(), storage?.close(), cluster?.close(), registry?.close()]);
    },
  };
}

function openIdentity(settings: ReconcilerSettings) {
  const { IDENTITY_INTERNAL_URL: url, IDENTITY_CLIENT_SECRET: secret } = settings;
  if (url === undefined || secret === undefined) {
    return undefined;
  }
  const peer = createPeer(url);
  const { IDENTITY_REALM: realm, IDENTITY_CLIENT: client, IDENTITY_CLIENT_SECRET_ALSO: other } = settings;
  // The first once more: it may have come to hold between the two.
  const secrets = other === undefined ? [secret] : [secret, other, secret];
  const tokens = createServiceTokens({ peer, realm, client, secrets });
  return { admin: createIdentityAdmin({ peer, realm, tokens }), close: () => peer.close() };
}

/**
 * The deployment's own object storage, or an existing one: with IAM as far as it has that, else by plain S3. Where there is a bucket
 * operator, it makes the buckets; in a cloud the keys too.
 */
function openStorage(settings: ReconcilerSettings, onCall?: (count: number) => void) {
  const operator = openOperator(settings);
  if (operator !== undefined && settings.BUCKETS_IN_CLOUD) {
    return { steps: [createCloudBucketStep(operator)], close: operator.close };
  }
  const {
    OBJSTORE_ADMIN_URL: adminUrl,
    OBJSTORE_URL: url,
    OBJSTORE_IAM_URL: iamUrl,
    OBJSTORE_ROOT_USER: user,
    OBJSTORE_ROOT_PASSWORD: password,
    S3_REGION: region,
  } = settings;
  if (url === undefined || user === undefined || password === undefined) {
    return undefined;
  }
  const withStorage: WithStorage = (work) => withStorageClient({ url, region, user, password }, work);
  const empty = (bucket: string) => withStorage((client) => emptyBucket(client, bucket));
  const { DEFAULT_QUOTA_MB: defaultQuotaMb, USAGE_INTERVAL: usageInterval } = settings;
  if (adminUrl === undefined && iamUrl !== undefined) {
    const storage = createIamStorage({
      url: iamUrl,
      user,
      password,
      region,
      withStorage,
      usageMs: usageInterval * 1000,
    });
    return {
      steps: [createBucketStep({ objstore: storage, empty, defaultQuotaMb })],
      close: () => Promise.resolve(storage.close()),
    };
  }
  if (adminUrl === undefined) {
    return { steps: [createPlainBucketStep({ withStorage, region })], close: async () => {} };
  }
  const peer = createPeer(adminUrl);
  const objstore = createObjstoreAdmin({ peer, user, password, ...(onCall && { onCall }) });
  const admin = operator === undefined ? objstore : withOperator(objstore, operator);
  return {
    steps: [createBucketStep({ objstore: admin, empty, defaultQuotaMb }), createStorageRolesStep(objstore)],
    close: async () => {
      await Promise.all([peer.close(), operator?.close()]);
    },
  };
}

function openOperator({ BUCKET_OPERATOR_URL: url, BUCKET_OPERATOR_SECRET: secret }: ReconcilerSettings) {
  return url === undefined || secret === undefined ? undefined : openBucketOperator(url, secret);
}

/** Buckets come and go by the operator; quotas, users and keys are the workspace's own. */
function withOperator(admin: StorageAdmin, operator: BucketOperator): StorageAdmin {
  return {
    ...admin,
    createBucket: (name) => operator.ensure({ name, withKeys: false }),
    deleteBucket: async (name) => {
      await operator.remove(name, "purge");
      // One that was made before there was an operator.
      if ((await admin.findBucket(name)) !== undefined) {
        await admin.deleteBucket(name);
      }
    },
  };
}

function openRegistry({
  REGISTRY_ADMIN_URL: url,
  REGISTRY_ADMIN_PASSWORD: password,
  REGISTRY_HOST: host,
}: ReconcilerSettings) {
  if (url === undefined || password === undefined || host === undefined) {
    return undefined;
  }
  const peer = createPeer(url);
  return { registry: createRegistryAdmin({ peer, password }), host, close: () => peer.close() };
}

function openCluster({ WORKSPACE_NAMESPACES: isOn, ...settings }: ReconcilerSettings): ClusterApi | undefined {
  return isOn ? openClusterApi(openAccount(settings.KUBERNETES_ACCOUNT, settings.KUBERNETES_API)) : undefined;
}

function createNamespaces(api: ClusterApi, settings: ReconcilerSettings, db: Kysely<Tables>): Step {
  const { S3_ENDPOINT: endpoint = "", S3_REGION: region } = settings;
  return createNamespaceStep({
    api,
    deployment: settings.DEPLOYMENT,
    defaultQuotaMb: settings.DEFAULT_QUOTA_MB,
    limits: {
      cpu: settings.NAMESPACE_CPU,
      memory: settings.NAMESPACE_MEMORY,
      pods: settings.NAMESPACE_PODS,
      storage: settings.NAMESPACE_STORAGE,
    },
    findBucket: async (workspace) => {
      const steps = await listSteps(db, workspace);
      const outputs = steps.find(({ name }) => name === "bucket")?.outputs as BucketOutputs | null | undefined;
      return outputs?.key === undefined
        ? undefined
        : {
            bucketname: outputs.bucketname,
            projectid: outputs.projectid,
            access: outputs.key.access,
            secret: outputs.key.secret,
            endpoint,
            region,
          };
    },
  });
}
