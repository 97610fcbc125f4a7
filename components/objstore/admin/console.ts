import type { LogoutTokenVerifier } from "@swath/auth";
import { type OidcClient, addConsoleLogin } from "@swath/auth/login";
import { type Logger, Problem, noteActor } from "@swath/service";
import type { FailureDelays } from "@swath/service/failure-delays";
import { createApp } from "@swath/service/fastify";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { type Static, Type } from "typebox";

import { idOf } from "../access/acl.ts";
import { addressOf, noContext } from "../access/circumstances.ts";
import { isAllowed } from "../access/evaluate.ts";
import { type Principal, nameOf } from "../access/principal.ts";
import { toRootKey } from "../access/root-key.ts";
import type { Damages } from "../background/damages.ts";
import type { DiskGuard } from "../background/disk-guard.ts";
import type { Scrub } from "../background/scrub.ts";
import { S3Error } from "../errors.ts";
import { isBucketName } from "../protocol/address.ts";
import type { Bucket } from "../store/rows.ts";
import type { ObjectStore } from "../store/store.ts";
import { checkBucketPolicy } from "../operations/bucket-policy.ts";
import { removeBucket } from "../operations/delete-bucket.ts";
import { exchangeToken } from "../sts/assume-role.ts";
import { addAccountRoutes } from "./account-routes.ts";
import { Policy, checkPolicy, toKeyJson } from "./json.ts";
import { addLinkRoutes } from "./link-routes.ts";
import { addRoleRoutes } from "./role-routes.ts";
import { addSnapshotRoutes } from "./snapshot-routes.ts";
import { type Session, Sessions, toSessionToken } from "./sessions.ts";

export interface ConsoleOptions {
  readonly store: ObjectStore;
  readonly rootUser: string;
  readonly rootPassword: string;
  readonly region: string;
  readonly publicUrl: string;
  readonly disk: DiskGuard;
  readonly scrub: Scrub;
  readonly damages: Damages;
  readonly snapshots: Pick<Parameters<typeof addSnapshotRoutes>[1], "work" | "schedule" | "signal">;
  readonly role: Parameters<typeof exchangeToken>[0] | undefined;
  readonly secureCookies: boolean;
  /** Logging in with the platform's login, where an identity service and the console's own address are known. */
  readonly login?:
    | {
        readonly client: OidcClient;
        readonly logoutTokens: LogoutTokenVerifier;
        readonly consoleUrl: string;
      }
    | undefined;
  readonly logger: Logger;
  readonly failures: FailureDelays;
}

const COOKIE = "objstore_session";
/** How long somebody who came by the platform's login stays logged in. */
const LOGIN_SECONDS = 4 * 3600;
const SignIn = Type.Union([
  Type.Object({ accessKey: Type.String(), secretKey: Type.String() }),
  Type.Object({ token: Type.String() }),
]);
const Quota = Type.Object({ bytes: Type.Union([Type.Integer({ minimum: 0 }), Type.Null()]) });

/** The administration API on the console's port: JSON, problem details, a session or HTTP Basic with an access key. */
export function createConsole(options: ConsoleOptions): FastifyInstance {
  const { store, rootUser, region, publicUrl } = options;
  const sessions = new Sessions(options);
  const app = createApp(options.logger, { keepsSlashes: true });
  app.setSchemaErrorFormatter(
    (errors) => new Problem(400, errors.map(({ instancePath, message }) => `${instancePath} ${message}`).join("; ")),
  );

  /** Callers who came with HTTP Basic, checked before their request is handled: failures are answered late. */
  const basics = new WeakMap<FastifyRequest, Session>();
  app.addHook("preValidation", async (request) => {
    const basic = /^Basic (.+)$/i.exec(request.headers.authorization ?? "")?.[1];
    if (basic !== undefined) {
      const [name = "", ...rest] = Buffer.from(basic, "base64").toString().split(":");
      const principal = await sessions.check(name, rest.join(":"), toAddress(request));
      basics.set(request, {
        principal,
        key: store.accounts.findKey(name) ?? toRootKey(rootUser, options.rootPassword),
      });
    }
  });
  const callerOf = (request: FastifyRequest): Session => {
    const session = basics.get(request) ?? findSession(request);
    const { principal } = session;
    noteActor(request, { id: idOf(principal), isAdmin: principal.kind === "root" });
    return session;
  };
  const findSession = (request: FastifyRequest): Session => {
    const { authorization, cookie } = request.headers;
    const token =
      /^Bearer (.+)$/i.exec(authorization ?? "")?.[1] ??
      new RegExp(`(?:^|; *)${COOKIE}=([^;]+)`).exec(cookie ?? "")?.[1];
    const session = token === undefined ? undefined : sessions.find(token);
    if (session === undefined) {
      throw new Problem(401, "Log in first: POST /api/session, or send HTTP Basic with an access key and its secret.");
    }
    return session;
  };
  const requireRoot = (request: FastifyRequest) => {
    if (callerOf(request).principal.kind !== "root") {
      throw new Problem(403, "Only the root user may do this.");
    }
  };
  const requireRight = (principal: Principal, action: string, bucket: string) => {
    if (!isAllowed(principal, store.buckets.find(bucket), { action, resource: bucket, context: noContext })) {
      throw new Problem(403, `You may not do ${action} on ${bucket}.`);
    }
  };
  const describe = ({ key, principal }: Session) => ({
    user: nameOf(principal),
    isRoot: principal.kind === "root",
    expires: key.expires === null ? null : new Date(key.expires).toISOString(),
    endpoint: publicUrl,
    region,
  });

  const openSession = (reply: FastifyReply, session: Session) => {
    const token = toSessionToken(session.key);
    const secure = options.secureCookies ? "; Secure" : "";
    reply.header("set-cookie", `${COOKIE}=${token}; Path=/; HttpOnly; SameSite=Strict${secure}`);
    return token;
  };
  app.get("/api/sign-in", () => ({ platform: options.login !== undefined }));
  if (options.login !== undefined && options.role !== undefined) {
    const { role, logger } = options;
    addConsoleLogin(app, {
      client: options.login.client,
      publicUrl: options.login.consoleUrl,
      cookiePrefix: "objstore_login_",
      logger,
      logoutTokens: options.login.logoutTokens,
      endSessions: (ended) => store.accounts.deleteKeysOfLogin(ended),
      openSession: async (reply, accessToken, sessionId) => {
        const key = await exchangeToken(role, accessToken, { seconds: LOGIN_SECONDS, console: { sessionId } });
        openSession(reply, sessions.find(toSessionToken(key)) as Session);
      },
      findReason: (cause) =>
        cause instanceof S3Error ? (cause.code === "AccessDenied" ? "no-role" : "refused") : undefined,
    });
  }
  app.post("/api/session", { schema: { body: SignIn } }, async (request, reply) => {
    const body = request.body as Static<typeof SignIn>;
    let session: Session;
    if ("token" in body) {
      if (options.role === undefined) {
        throw new Problem(400, "No identity service is connected to this object store.");
      }
      const key = await toProblemOf(exchangeToken(options.role, body.token, { seconds: 3600 }));
      session = sessions.find(toSessionToken(key)) as Session;
    } else {
      session = await sessions.signIn(body.accessKey, body.secretKey, toAddress(request));
    }
    const token = openSession(reply, session);
    const { id, secret, token: sessionToken } = session.key;
    return {
      ...describe(session),
      session: token,
      credentials: { accessKeyId: id, secretAccessKey: secret, sessionToken },
    };
  });
  app.get("/api/session", (request) => describe(callerOf(request)));
  app.delete("/api/session", async (request, reply) => {
    const { key } = callerOf(request);
    if (key.token !== null) {
      await store.accounts.deleteKey(key.id);
    }
    return reply.header("set-cookie", `${COOKIE}=; Path=/; Max-Age=0`).code(204).send();
  });

  app.get("/api/server", (request) => {
    callerOf(request);
    const buckets = store.buckets.list();
    const bytes = buckets.reduce((sum, bucket) => sum + bucket.bytes + bucket.upload_bytes, 0);
    return {
      endpoint: publicUrl,
      region,
      disk: options.disk.read(),
      buckets: buckets.length,
      bytes,
      scrub: options.scrub.report,
      damaged: options.damages.list(100),
    };
  });
  app.post("/api/scrub", (request, reply) => {
    requireRoot(request);
    void options.scrub
      .run(new AbortController().signal)
      .catch((error: unknown) => options.logger.error({ err: error }, "scrub failed"));
    return reply.code(202).send(options.scrub.report);
  });

  app.get("/api/buckets", (request) => {
    const { principal } = callerOf(request);
    const visible = store.buckets
      .list()
      .filter((bucket) =>
        isAllowed(principal, bucket, { action: "s3:ListBucket", resource: bucket.name, context: noContext }),
      );
    return { buckets: visible.map(toBucketJson) };
  });
  app.get<{ Params: { name: string } }>("/api/buckets/:name", (request) => {
    const { principal } = callerOf(request);
    requireRight(principal, "s3:ListBucket", request.params.name);
    return toBucketJson(findBucket(store, request.params.name));
  });
  app.put<{ Params: { name: string } }>("/api/buckets/:name", async (request, reply) => {
    const { name } = request.params;
    const { principal } = callerOf(request);
    requireRight(principal, "s3:CreateBucket", name);
    if (!isBucketName(name)) {
      throw new Problem(400, `"${name}" is not a bucket name: 3 to 63 of a-z, 0-9, "-" and ".", no two dots in a row.`);
    }
    const existing = store.buckets.find(name);
    const bucket = existing ?? (await store.buckets.create(name, toNewBucket(principal), store.now()));
    return reply.code(existing === undefined ? 201 : 200).send(toBucketJson(bucket));
  });
  app.delete<{ Params: { name: string } }>("/api/buckets/:name", async (request, reply) => {
    requireRight(callerOf(request).principal, "s3:DeleteBucket", request.params.name);
    await toProblemOf(removeBucket(store, request.params.name));
    return reply.code(204).send();
  });
  app.put<{ Params: { name: string }; Body: Static<typeof Quota> }>(
    "/api/buckets/:name/quota",
    { schema: { body: Quota } },
    async (request) => {
      requireRoot(request);
      findBucket(store, request.params.name);
      await store.buckets.set(request.params.name, "quota_bytes", request.body.bytes);
      return toBucketJson(findBucket(store, request.params.name));
    },
  );
  app.put<{ Params: { name: string }; Body: object }>(
    "/api/buckets/:name/policy",
    { schema: { body: Policy } },
    async (request, reply) => {
      const { name } = request.params;
      requireRight(callerOf(request).principal, "s3:PutBucketPolicy", name);
      const text = JSON.stringify(request.body);
      const bucket = findBucket(store, name);
      checkPolicy(text, name);
      await toProblemOf((async () => checkBucketPolicy(bucket, text))());
      await store.buckets.set(name, "policy", text);
      return reply.code(204).send();
    },
  );
  app.delete<{ Params: { name: string } }>("/api/buckets/:name/policy", async (request, reply) => {
    requireRight(callerOf(request).principal, "s3:DeleteBucketPolicy", request.params.name);
    await toProblemOf(store.buckets.set(request.params.name, "policy", null));
    return reply.code(204).send();
  });
  app.post<{ Querystring: { bucket?: string }; Body: object }>(
    "/api/policies/validate",
    { schema: { body: Policy } },
    (request) => {
      callerOf(request);
      checkPolicy(JSON.stringify(request.body), request.query.bucket);
      return { valid: true };
    },
  );
  /** A bucket of its own for somebody: the bucket, a user who may use it and nothing else, and a key, in one transaction. */
  app.post<{ Params: { name: string } }>("/api/buckets/:name/service-account", async (request, reply) => {
    requireRoot(request);
    const { name } = request.params;
    if (!isBucketName(name)) {
      throw new Problem(400, `"${name}" is not a bucket name.`);
    }
    const key = await store.index.mutate(() => {
      if (store.buckets.find(name) === undefined) {
        store.buckets.insert(name, rootUser, store.now());
      }
      const user = store.accounts.insertUser(`bucket-${name}`, JSON.stringify(toBucketPolicy(name)), { enabled: true });
      return store.accounts.insertKey({ kind: "AKIA", user: user.name, title: `bucket ${name}` });
    });
    return reply
      .code(201)
      .send({ bucket: name, endpoint: publicUrl, region, ...toKeyJson(key), secretKey: key.secret });
  });

  addAccountRoutes(app, { store, rootUser, callerOf, requireRoot });
  addRoleRoutes(app, { store, requireRoot });
  addSnapshotRoutes(app, { store, requireRoot, ...options.snapshots });

  addLinkRoutes(app, { store, publicUrl, region, callerOf });
  return app;
}

/** List, read, write and delete in one bucket. */
function toBucketPolicy(bucket: string) {
  return {
    Version: "2012-10-17",
    Statement: [
      {
        Effect: "Allow",
        Action: ["s3:ListBucket", "s3:ListBucketVersions", "s3:ListBucketMultipartUploads", "s3:GetBucketLocation"],
        Resource: `arn:aws:s3:::${bucket}`,
      },
      {
        Effect: "Allow",
        Action: [
          "s3:GetObject*",
          "s3:PutObject*",
          "s3:DeleteObject*",
          "s3:AbortMultipartUpload",
          "s3:ListMultipartUploadParts",
        ],
        Resource: `arn:aws:s3:::${bucket}/*`,
      },
    ],
  };
}

function toAddress(request: FastifyRequest): string {
  return addressOf({ message: request.raw, headers: request.headers });
}

function toNewBucket(principal: Principal) {
  return { owner: idOf(principal), account: principal.kind === "anonymous" ? "" : principal.account };
}

function findBucket(store: ObjectStore, name: string): Bucket {
  const bucket = store.buckets.find(name);
  if (bucket === undefined) {
    throw new Problem(404, `There is no bucket ${name}.`);
  }
  return bucket;
}

async function toProblemOf<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw error instanceof S3Error ? new Problem(error.status, error.message, { title: error.code }) : error;
  }
}

function toBucketJson(bucket: Bucket) {
  return {
    name: bucket.name,
    owner: bucket.owner,
    created: new Date(bucket.created).toISOString(),
    versioning: bucket.versioning === "" ? "Off" : bucket.versioning,
    objects: bucket.objects,
    bytes: bucket.bytes,
    uploadBytes: bucket.upload_bytes,
    quotaBytes: bucket.quota_bytes,
    policy: bucket.policy === null ? null : (JSON.parse(bucket.policy) as object),
  };
}
