import { type Peer, Problem } from "@swath/service";

export interface BucketState {
  readonly objects: number;
  readonly bytes: number;
  readonly quotaBytes: number | null;
  readonly policy: object | null;
}

export interface AccessKey {
  readonly accessKey: string;
  readonly user: string;
  readonly title: string | null;
  readonly enabled: boolean;
}

/** Who may get temporary keys with a token of the identity service, and what these may do. */
export interface StorageRole {
  /** Claim of the token, and the values of which it must have one. */
  readonly claim: string;
  readonly values: readonly string[];
  readonly policy: object;
}

/**
 * What workspaces need of whatever stores their objects: buckets with quotas, users who may use one of them, and their keys. The
 * deployed object storage offers it by its administration API, an existing S3 cluster by IAM.
 */
export interface StorageAdmin {
  /** Whether the storage refuses what goes beyond a quota; else rights are taken away where more is stored. */
  readonly enforcesQuota: boolean;
  readonly findBucket: (name: string) => Promise<BucketState | undefined>;
  readonly createBucket: (name: string) => Promise<void>;
  readonly setQuota: (name: string, bytes: number | null) => Promise<void>;
  readonly removePolicy: (name: string) => Promise<void>;
  readonly deleteBucket: (name: string) => Promise<void>;
  readonly findUser: (name: string) => Promise<{ readonly policy: object; readonly enabled: boolean } | undefined>;
  readonly putUser: (name: string, policy: object) => Promise<void>;
  readonly deleteUser: (name: string) => Promise<void>;
  readonly listKeys: (user: string) => Promise<readonly AccessKey[]>;
  readonly createKey: (
    user: string,
    title: string,
  ) => Promise<{ readonly accessKey: string; readonly secretKey: string }>;
  readonly deleteKey: (user: string, accessKey: string) => Promise<void>;
}

/** The part of the object storage's administration API that workspaces need. */
export interface ObjstoreAdmin extends StorageAdmin {
  /** A key whose id and secret the caller has chosen. */
  readonly putKey: (
    user: string,
    key: { readonly accessKey: string; readonly secretKey: string; readonly title: string },
  ) => Promise<void>;
  readonly findRole: (name: string) => Promise<StorageRole | undefined>;
  readonly putRole: (name: string, role: StorageRole) => Promise<void>;
  readonly deleteRole: (name: string) => Promise<void>;
}

interface ObjstoreAdminOptions {
  readonly peer: Peer;
  readonly user: string;
  readonly password: string;
  /** Called before each request with its number. */
  readonly onCall?: (count: number) => void;
}

export function createObjstoreAdmin(options: ObjstoreAdminOptions): ObjstoreAdmin {
  const { peer, onCall } = options;
  const authorization = `Basic ${Buffer.from(`${options.user}:${options.password}`).toString("base64")}`;
  let calls = 0;
  const call = async <Body>(method: string, path: string, body?: object): Promise<Body | undefined> => {
    calls += 1;
    onCall?.(calls);
    const response = await peer.fetch(path, {
      method,
      timeout: 10_000,
      headers: { authorization, ...(body && { "content-type": "application/json" }) },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (response.status === 404) {
      return undefined;
    }
    if (!response.ok) {
      throw new Problem(502, `the object storage answers ${response.status} to ${method} ${path}: ${detailOf(text)}`);
    }
    return (text === "" ? {} : JSON.parse(text)) as Body;
  };
  const bucket = (name: string) => `/api/buckets/${encodeURIComponent(name)}`;
  const user = (name: string) => `/api/users/${encodeURIComponent(name)}`;
  const role = (name: string) => `/api/roles/${encodeURIComponent(name)}`;

  return {
    enforcesQuota: true,
    findBucket: (name) => call<BucketState>("GET", bucket(name)),
    createBucket: async (name) => void (await call("PUT", bucket(name))),
    setQuota: async (name, bytes) => void (await call("PUT", `${bucket(name)}/quota`, { bytes })),
    removePolicy: async (name) => void (await call("DELETE", `${bucket(name)}/policy`)),
    deleteBucket: async (name) => void (await call("DELETE", bucket(name))),
    findUser: (name) => call<{ policy: object; enabled: boolean }>("GET", user(name)),
    putUser: async (name, policy) => void (await call("PUT", user(name), { policy, enabled: true })),
    deleteUser: async (name) => void (await call("DELETE", user(name))),
    listKeys: async (name) => {
      const response = await call<{ accessKeys: AccessKey[] }>(
        "GET",
        `/api/access-keys?user=${encodeURIComponent(name)}`,
      );
      return response?.accessKeys ?? [];
    },
    createKey: async (name, title) => {
      const key = await call<{ accessKey: string; secretKey: string }>("POST", "/api/access-keys", {
        user: name,
        title,
      });
      if (key === undefined) {
        throw new Problem(502, `the object storage has no user ${name}`);
      }
      return key;
    },
    deleteKey: async (_user, key) => void (await call("DELETE", `/api/access-keys/${encodeURIComponent(key)}`)),
    putKey: async (name, { accessKey, secretKey, title }) => {
      const path = `/api/access-keys/${encodeURIComponent(accessKey)}`;
      if ((await call("PUT", path, { user: name, secretKey, title })) === undefined) {
        throw new Problem(502, `the object storage has no user ${name}`);
      }
    },
    findRole: async (name) => {
      const found = await call<StorageRole>("GET", role(name));
      return found && { claim: found.claim, values: found.values.toSorted(), policy: found.policy };
    },
    putRole: async (name, requested) => void (await call("PUT", role(name), requested)),
    deleteRole: async (name) => void (await call("DELETE", role(name))),
  };
}

function detailOf(text: string): string {
  try {
    return (JSON.parse(text) as { detail?: string }).detail ?? text.slice(0, 200);
  } catch {
    return text.slice(0, 200);
  }
}
