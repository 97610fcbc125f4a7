import { S3Error } from "../errors.ts";
import type { S3Request } from "../protocol/request.ts";
import type { Bucket, Version } from "../store/rows.ts";
import type { ObjectStore } from "../store/store.ts";
import { type Acl, levelOf, toPrivateAcl } from "./acl.ts";
import { toContext } from "./circumstances.ts";
import { isAllowed, mightBeAllowed } from "./evaluate.ts";
import type { Principal } from "./principal.ts";

export interface Authorizer {
  /**
   * Asks for a right on a bucket, or on an object in it: on its newest version, or on the one named (of the request's own object, the
   * one that the request names).
   * @throws {S3Error} AccessDenied
   */
  readonly authorize: (action: string, bucket: string, key?: string, version?: string) => void;
  /** The same as an answer. */
  readonly may: (action: string, bucket: string, key?: string, version?: string) => boolean;
  /** Asks, before a body is read, whether the caller might do this to something in a bucket. @throws {S3Error} AccessDenied */
  readonly authorizeSome: (action: string, bucket: string) => void;
}

interface AuthorizerDeps {
  readonly store: ObjectStore;
  readonly request: S3Request;
  readonly principal: Principal;
  readonly authType: string | undefined;
  readonly region: string;
}

/** Decides what the caller of one request may do. */
export function createAuthorizer({ store, request, principal, authType, region }: AuthorizerDeps): Authorizer {
  const may = (action: string, name: string, key?: string, version?: string): boolean => {
    if (principal.kind === "root") {
      // Root may do everything: nothing is collected to decide that.
      return true;
    }
    // Whether there is one of that name, and whose it is, does not decide whether somebody may make buckets.
    const bucket = action === "s3:CreateBucket" ? undefined : store.buckets.find(name);
    const { address, query } = request;
    const isOwn = name === address.bucket && key === address.key;
    let known: { readonly version: Version | undefined } | undefined;
    const findObject = (): Version | undefined => {
      if (bucket === undefined || key === undefined) {
        return undefined;
      }
      const id = version ?? (isOwn ? query.get("versionId") : undefined);
      known ??= {
        version: id === undefined ? store.versions.findLatest(bucket.id, key) : store.versions.find(bucket.id, key, id),
      };
      return known.version;
    };
    const isOff = bucket === undefined || bucket.ownership === "BucketOwnerEnforced";
    const list = isOff ? undefined : findList(store, bucket, action, findObject);
    return isAllowed(principal, bucket, {
      action,
      resource: key === undefined ? name : `${name}/${key}`,
      context: toContext(request, { principal, bucket, findObject, authType, region, now: store.now() }),
      ...list,
    });
  };
  /** Who may list a bucket may know that an object is not there. */
  const mayKnow = (name: string, key: string): boolean => {
    const bucket = store.buckets.find(name);
    const known = toContext(request, {
      principal,
      bucket,
      findObject: () => undefined,
      authType,
      region,
      now: store.now(),
    });
    const list = bucket === undefined || bucket.ownership === "BucketOwnerEnforced" ? {} : { acl: aclOf(bucket) };
    return isAllowed(principal, bucket, {
      action: "s3:ListBucket",
      resource: name,
      context: (condition) => (condition === "s3:prefix" ? [key] : known(condition)),
      ...list,
    });
  };
  const check = (allowed: boolean, bucket: string) => {
    if (!allowed) {
      throw new S3Error("AccessDenied", undefined, { details: { BucketName: bucket } });
    }
  };
  return {
    may,
    authorize: (action, bucket, key, version) => {
      if (may(action, bucket, key, version)) {
        return;
      }
      if (key !== undefined && READS.has(action) && isMissing(store, bucket, key) && mayKnow(bucket, key)) {
        throw new S3Error("NoSuchKey", undefined, { details: { Key: key } });
      }
      check(false, bucket);
    },
    authorizeSome: (action, name) => {
      const bucket = store.buckets.find(name);
      check(bucket !== undefined && mightBeAllowed(principal, bucket, action), name);
    },
  };
}

const READS = new Set(["s3:GetObject", "s3:GetObjectAttributes"]);

function isMissing(store: ObjectStore, name: string, key: string): boolean {
  const bucket = store.buckets.find(name);
  const latest = bucket && store.versions.findLatest(bucket.id, key);
  return latest === undefined || latest.marker === 1;
}

/** The list that decides an action, and whose the object is. */
function findList(
  store: ObjectStore,
  bucket: Bucket,
  action: string,
  findObject: () => Version | undefined,
): { readonly acl?: Acl; readonly objectAccount?: string } {
  const level = levelOf(action);
  if (level === "bucket") {
    return { acl: aclOf(bucket) };
  }
  const object = level === "object" ? findObject() : undefined;
  return object === undefined ? {} : { acl: aclOf(object), objectAccount: accountOf(store, bucket, object.owner) };
}

export function aclOf({ acl, owner }: Pick<Bucket | Version, "acl" | "owner">): Acl {
  return acl === null ? toPrivateAcl(owner) : (JSON.parse(acl) as Acl);
}

function accountOf(store: ObjectStore, bucket: Bucket, owner: string): string {
  return owner === bucket.owner ? bucket.account : (store.accounts.findUser(owner)?.account ?? "");
}
