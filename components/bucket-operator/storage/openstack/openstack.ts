import { randomBytes } from "node:crypto";

import type { Bucket } from "../../store/buckets.ts";
import type { BucketMade } from "../../store/tables.ts";
import { type BucketStorage, StorageRefusal } from "../bucket-storage.ts";
import { type CloudAccount, type KeystoneProject, type KeystoneToken, createKeystone } from "./keystone.ts";
import { shareBucket } from "./share-bucket.ts";
import { createSwift } from "./swift.ts";

export interface OpenStackOptions extends CloudAccount {
  readonly memberRole: string;
  /** Project whose identities write into every bucket, such as the processing service's. */
  readonly serviceProject: string | undefined;
  /** `<name>` becomes the bucket's name. */
  readonly emailPattern: string;
  readonly s3Url: string;
  readonly region: string;
}

/** Tag of projects that the operator made: only those are deleted. */
export const PROJECT_TAG = "swath-bucket-operator";

/**
 * Buckets in an OpenStack cloud: for each a project `project-<name>` with a user `user-<name>`, EC2 credentials of that user, a container,
 * and a policy that lets the service project write. Names are the same at each attempt, so that what an attempt that died has made is
 * found by the next one; secrets are random.
 */
export function createOpenStackStorage(options: OpenStackOptions): BucketStorage {
  const { memberRole, serviceProject, emailPattern, s3Url, region } = options;
  const keystone = createKeystone(options);

  const ensureProject = async ({ name, made }: Bucket, signal: AbortSignal): Promise<KeystoneProject> => {
    const projectName = `project-${name}`;
    const requested = { name: projectName, description: `Bucket ${name}`, tags: [PROJECT_TAG] };
    const found =
      (await keystone.findProject(projectName, signal)) ??
      (await keystone.createProject(requested, signal)) ??
      (await keystone.findProject(projectName, signal));
    if (found === undefined) {
      throw new StorageRefusal("NameTaken", `the cloud has a project ${projectName} that its administrator cannot see`);
    }
    if (!isTagged(found) && made.projectId !== found.id) {
      const user = await keystone.findUser(`user-${name}`, signal);
      if (user?.default_project_id !== found.id) {
        throw new StorageRefusal(
          "NameTaken",
          `the cloud has a project ${projectName} that is no bucket's; choose another name, or give the project the tag ${PROJECT_TAG} if the bucket may have it`,
        );
      }
    }
    return found;
  };

  const ensureUser = async (
    { name, made }: Bucket,
    project: KeystoneProject,
    password: string,
    signal: AbortSignal,
  ): Promise<string> => {
    const userName = `user-${name}`;
    const fields = {
      name: userName,
      password,
      email: emailPattern.replaceAll("<name>", name),
      description: `Bucket ${name}`,
      default_project_id: project.id,
    };
    const found =
      (await keystone.findUser(userName, signal)) ??
      (await keystone.createUser(fields, signal)) ??
      (await keystone.findUser(userName, signal));
    if (found === undefined) {
      throw new StorageRefusal("NameTaken", `the cloud has a user ${userName} that its administrator cannot see`);
    }
    if (found.default_project_id !== project.id) {
      throw new StorageRefusal(
        "NameTaken",
        `the cloud has a user ${userName} of another project; rename or delete it, or choose another name for the bucket`,
      );
    }
    if (found.id !== made.userId) {
      // Made by an attempt that died, or by the operator of the earlier release line: its password is unknown or derivable.
      await keystone.changeUser(found.id, { password, enabled: true }, signal);
    }
    return found.id;
  };

  /** The credentials that are kept, or others of the user and project; never a second pair. */
  const ensureKeys = async (user: KeystoneToken, projectId: string, made: BucketMade, signal: AbortSignal) => {
    const all = (await keystone.listEc2(user, signal)).filter(({ tenant_id: tenant }) => tenant === projectId);
    const found =
      all.find(({ access }) => access === made.access) ??
      all.find(({ access, secret }) => !isDerivable(access, secret)) ??
      (await keystone.createEc2(user, projectId, signal));
    for (const { access } of all.filter((each) => each.access !== found.access)) {
      await keystone.deleteEc2(user, access, signal);
    }
    return found;
  };

  const storageOf = ({ token, storageUrl }: KeystoneToken, signal: AbortSignal) => {
    if (storageUrl === undefined) {
      throw new StorageRefusal("NoObjectStorage", "the cloud's catalogue has no public object-store for the project");
    }
    return createSwift({ url: storageUrl, token, signal });
  };

  return {
    apply: async (bucket, save, signal) => {
      const { bucketName } = bucket;
      let { made } = bucket;
      const keep = async (change: BucketMade) => {
        made = { ...made, ...change };
        await save(made);
      };
      const project = await ensureProject(bucket, signal);
      const password = made.password ?? randomBytes(24).toString("base64url");
      if (made.password === undefined || made.projectId !== project.id) {
        await keep({ projectId: project.id, password });
      }
      const userId = await ensureUser(bucket, project, password, signal);
      if (made.userId !== userId) {
        await keep({ userId });
      }
      const admin = await keystone.admin(signal);
      await keystone.grantRole(project.id, admin.userId, memberRole, signal);
      await keystone.grantRole(project.id, userId, memberRole, signal);
      const user = await keystone.forProject(project.id, { id: userId, password }, signal);
      const { access, secret } = await ensureKeys(user, project.id, made, signal);
      if (made.access !== access || made.secret !== secret) {
        await keep({ access, secret });
      }
      const swift = storageOf(user, signal);
      await swift.putContainer(bucketName, { "x-container-meta-createdby": "swath-bucket-operator" });
      if (serviceProject !== undefined) {
        await shareBucket({ s3Url, region, access, secret, bucket: bucketName, serviceProject }, swift, signal);
      }
    },
    remove: async ({ name, bucketName, removal, made }, signal) => {
      const project = await keystone.findProject(`project-${name}`, signal);
      if (project === undefined || !(isTagged(project) || project.id === made.projectId)) {
        return;
      }
      const user = await keystone.findUser(`user-${name}`, signal);
      if (removal === "delete") {
        // As the administrator: the user may be gone already.
        const { userId: adminId } = await keystone.admin(signal);
        await keystone.grantRole(project.id, adminId, memberRole, signal);
        const asAdmin = await keystone.forProject(project.id, undefined, signal);
        await storageOf(asAdmin, signal).deleteContainer(bucketName);
      }
      if (user?.default_project_id === project.id) {
        // The user's EC2 credentials go with it.
        await keystone.deleteUser(user.id, signal);
      }
      if (removal === "delete" && isTagged(project)) {
        await keystone.deleteProject(project.id, signal);
      }
    },
    check: async (signal) => {
      await keystone.admin(signal);
      try {
        await fetch(s3Url, { method: "HEAD", redirect: "manual", signal });
      } catch (error) {
        const cause = error instanceof Error && error.cause instanceof Error ? error.cause : (error as Error);
        throw new Error(`the cloud's S3 at ${s3Url} cannot be reached: ${cause.message}; check CLOUD_S3_URL`, {
          cause: error,
        });
      }
    },
    close: () => Promise.resolve(),
  };
}

/** The operator of the earlier release line made keys of a name and a few more characters, the same for both. */
const isDerivable = (access: string, secret: string): boolean => access === secret;

const isTagged = ({ tags }: KeystoneProject): boolean => tags?.includes(PROJECT_TAG) === true;
