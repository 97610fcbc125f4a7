import { type Settings, createPeer } from "@swath/service";
import type { Kysely } from "kysely";

import { openAccount } from "@swath/kubernetes/account";
import { type ClusterApi, openClusterApi } from "@swath/kubernetes/api";

import { createAdminToken } from "../clients/admin-token.ts";
import { emptyBucket } from "../clients/empty-bucket.ts";
import { createIdentityAdmin } from "../clients/identity-admin.ts";
import { createObjstoreAdmin } from "../clients/objstore-admin.ts";
import { withStorageClient } from "../clients/storage-client.ts";
import type { reconcilerSettings } from "../config.ts";
import type { Tables } from "../store/tables.ts";
import { listSteps } from "../store/steps.ts";
import { type BucketOutputs, createBucketStep } from "./bucket.ts";
import { createNamespaceStep } from "./namespace.ts";
import { createOwnerStep } from "./owner.ts";
import { type LendStorage, createPlainBucketStep } from "./plain-bucket.ts";
import { createProtectionStep } from "./protection.ts";
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
  return {
    steps: [
      ...(identity ? [createOwnerStep(db, identity.admin)] : []),
      ...(storage?.steps ?? []),
      ...(cluster ? [createNamespaces(cluster, settings, db)] : []),
      ...(identity
        ? [createProtectionStep(identity.admin, settings.PROTECTION_CLIENT, settings.IDENTITY_ADMIN_USER)]
        : []),
    ],
    close: async () => {
      await Promise.all([identity?.close(), storage?.close(), cluster?.close()]);
    },
  };
}

function openIdentity(settings: ReconcilerSettings) {
  const { IDENTITY_INTERNAL_URL: url, IDENTITY_ADMIN_PASSWORD: password } = settings;
  if (url === undefined || password === undefined) {
    return undefined;
  }
  const peer = createPeer(url);
  const { IDENTITY_REALM: realm, IDENTITY_ADMIN_CLIENT: client, IDENTITY_ADMIN_USER: user } = settings;
  const token = createAdminToken({ peer, realm, client, user, password });
  return { admin: createIdentityAdmin({ peer, realm, token }), close: () => peer.close() };
}

/** The deployment's own object storage, or an existing one, of which only S3 is known. */
function openStorage(settings: ReconcilerSettings, onCall?: (count: number) => void) {
  const {
    OBJSTORE_ADMIN_URL: adminUrl,
    OBJSTORE_URL: url,
    OBJSTORE_ROOT_USER: user,
    OBJSTORE_ROOT_PASSWORD: password,
    S3_REGION: region,
  } = settings;
  if (url === undefined || user === undefined || password === undefined) {
    return undefined;
  }
  const lend: LendStorage = (work) => withStorageClient({ url, region, user, password }, work);
  if (adminUrl === undefined) {
    return { steps: [createPlainBucketStep({ lend, region })], close: async () => {} };
  }
  const peer = createPeer(adminUrl);
  const objstore = createObjstoreAdmin({ peer, user, password, ...(onCall && { onCall }) });
  const empty = (bucket: string) => lend((client) => emptyBucket(client, bucket));
  return {
    steps: [
      createBucketStep({ objstore, empty, defaultQuotaMb: settings.DEFAULT_QUOTA_MB }),
      createStorageRolesStep(objstore),
    ],
    close: () => peer.close(),
  };
}

function openCluster({ WORKSPACE_NAMESPACES: isOn, ...settings }: ReconcilerSettings): ClusterApi | undefined {
  return isOn ? openClusterApi(openAccount(settings.KUBERNETES_ACCOUNT, settings.KUBERNETES_API)) : undefined;
}

function createNamespaces(api: ClusterApi, settings: ReconcilerSettings, db: Kysely<Tables>): Step {
  const { S3_ENDPOINT: endpoint = "", S3_REGION: region } = settings;
  return createNamespaceStep({
    api,
    deployment: settings.DEPLOYMENT,
    binding: { role: settings.NAMESPACE_ROLE, account: settings.SERVICE_ACCOUNT, accountNamespace: api.namespace },
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
            access: outputs.key.access,
            secret: outputs.key.secret,
            endpoint,
            region,
          };
    },
  });
}
