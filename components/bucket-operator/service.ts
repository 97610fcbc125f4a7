import { type Logger, Problem, type SecretCheck, readBearer } from "@swath/service";
import { createApp } from "@swath/service/fastify";
import { addOpenApi, jsonResponse } from "@swath/service/openapi";
import type { FastifyInstance } from "fastify";
import type { Kysely } from "kysely";
import type { Registry } from "prom-client";
import { type Static, Type } from "typebox";

import { type Bucket, BucketTaken, deleteBucket, findBucket, listBuckets, putBucket } from "./store/buckets.ts";
import type { Tables } from "./store/tables.ts";

interface BucketApiOptions {
  readonly logger: Logger;
  readonly db: Kysely<Tables>;
  /** Knows what callers show as a bearer token. */
  readonly isSecret: SecretCheck;
  readonly metrics: Registry;
}

/** Names of projects, users and Kubernetes objects are made of it. */
const Name = Type.String({ pattern: "^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$", description: "DNS label" });
const BucketName = Type.String({ pattern: "^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$", description: "Name of the bucket" });

const Body = Type.Object(
  {
    bucketName: BucketName,
    secretName: Type.Optional(Type.String({ pattern: "^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$" })),
    secretNamespace: Type.Optional(Name),
    withKeys: Type.Optional(Type.Boolean({ description: "Make keys that open this bucket alone (default: true)" })),
    deletionPolicy: Type.Optional(Type.Enum(["Retain", "Delete"])),
  },
  { additionalProperties: false },
);
const Params = Type.Object({ name: Name });
const Keys = Type.Object({
  access: Type.String(),
  secret: Type.String(),
  bucketname: Type.String(),
  projectid: Type.String(),
});
const Record = Type.Object({
  name: Type.String(),
  bucketName: Type.String(),
  secretName: Type.Union([Type.String(), Type.Null()]),
  secretNamespace: Type.Union([Type.String(), Type.Null()]),
  creationTimestamp: Type.String({ format: "date-time" }),
  ready: Type.Boolean({ description: "What was asked for last is there" }),
  reason: Type.String({ description: "Why not, as a word" }),
  message: Type.String({ description: "Why not, for people" }),
});

const OPEN_PATHS = /^\/(healthz|actuator\/health|actuator\/info|swagger-ui(\/.*)?|openapi\.json)$/;

/** The operator's API: buckets, health, metrics. Other services of the deployment call it; the platform publishes it nowhere. */
export async function createBucketApi({ logger, db, isSecret, metrics }: BucketApiOptions): Promise<FastifyInstance> {
  const app = createApp(logger);
  await addOpenApi(app, {
    title: "Bucket operator",
    version: "1.0.0",
    description: "Buckets with keys of their own, in an infrastructure cloud or the platform's object storage.",
    page: "/swagger-ui",
  });
  app.addHook("onRequest", async (request) => {
    const isOpen = OPEN_PATHS.test(request.url.split("?", 1)[0] ?? "");
    if (!isOpen && !isSecret(readBearer(request.headers.authorization))) {
      throw new Problem(401, "The bucket operator is for services of the deployment, which know its secret.");
    }
  });

  app.get<{ Querystring: { "bucket-name"?: string } }>(
    "/buckets",
    {
      schema: {
        summary: "List buckets",
        querystring: Type.Object({ "bucket-name": Type.Optional(Type.String({ maxLength: 63 })) }),
        response: { 200: jsonResponse("Buckets", Type.Array(Record)) },
      },
    },
    async ({ query }) => (await listBuckets(db, { bucketName: query["bucket-name"] })).map(toRecord),
  );
  app.put<{ Params: Static<typeof Params>; Body: Static<typeof Body> }>(
    "/buckets/:name",
    {
      schema: {
        summary: "Ask for a bucket",
        params: Params,
        body: Body,
        response: { 202: jsonResponse("Accepted", Record) },
      },
    },
    async ({ params, body }, reply) => {
      try {
        const bucket = await putBucket(db, {
          name: params.name,
          bucketName: body.bucketName,
          secretName: body.secretName ?? null,
          secretNamespace: body.secretNamespace ?? null,
          withKeys: body.withKeys ?? true,
          removal: body.deletionPolicy === "Delete" ? "delete" : "retain",
          namespace: null,
        });
        return await reply.code(202).send(toRecord(bucket));
      } catch (error) {
        throw error instanceof BucketTaken ? new Problem(409, error.message) : error;
      }
    },
  );
  app.get<{ Params: Static<typeof Params> }>(
    "/buckets/:name",
    { schema: { summary: "Show a bucket", params: Params, response: { 200: jsonResponse("The bucket", Record) } } },
    async ({ params }) => toRecord(await findOr404(db, params.name)),
  );
  app.get<{ Params: Static<typeof Params> }>(
    "/buckets/:name/keys",
    { schema: { summary: "Show a bucket's keys", params: Params, response: { 200: jsonResponse("Its keys", Keys) } } },
    async ({ params }, reply) => {
      const { made, bucketName, withKeys } = await findOr404(db, params.name);
      if (made.access === undefined || made.secret === undefined) {
        throw new Problem(
          404,
          withKeys ? `Bucket ${params.name} has no keys yet.` : `Bucket ${params.name} was asked for without keys.`,
        );
      }
      return reply.header("cache-control", "no-store").send({
        access: made.access,
        secret: made.secret,
        bucketname: bucketName,
        projectid: made.projectId ?? "",
      });
    },
  );
  app.delete<{ Params: Static<typeof Params>; Querystring: { data?: "keep" | "purge" } }>(
    "/buckets/:name",
    {
      schema: {
        summary: "Take a bucket's keys away, and with data=purge the bucket and all in it",
        params: Params,
        querystring: Type.Object({ data: Type.Optional(Type.Enum(["keep", "purge"])) }),
      },
    },
    async ({ params, query }, reply) => {
      const bucket = await findBucket(db, params.name);
      if (bucket === undefined) {
        throw new Problem(404, `There is no bucket ${params.name}.`);
      }
      if (bucket.namespace !== null) {
        throw new Problem(
          409,
          `${params.name} is a Bucket resource; delete it with kubectl -n ${bucket.namespace} delete bucket ${params.name}`,
        );
      }
      const removal = query.data === undefined ? undefined : query.data === "purge" ? "delete" : "retain";
      await deleteBucket(db, params.name, null, removal);
      return reply.code(202).send();
    },
  );
  app.get("/actuator/health", { schema: { hide: true } }, () => ({ status: "UP" }));
  app.get("/actuator/info", { schema: { hide: true } }, () => ({ app: { name: "bucket-operator" } }));
  app.get("/actuator/prometheus", { schema: { hide: true } }, async (_request, reply) =>
    reply.type(metrics.contentType).send(await metrics.metrics()),
  );
  return app;
}

async function findOr404(db: Kysely<Tables>, name: string): Promise<Bucket> {
  const bucket = await findBucket(db, name);
  if (bucket === undefined || bucket.phase === "kept") {
    throw new Problem(404, `There is no bucket ${name}.`);
  }
  return bucket;
}

const toRecord = (bucket: Bucket): Static<typeof Record> => ({
  name: bucket.name,
  bucketName: bucket.bucketName,
  secretName: bucket.secretName,
  secretNamespace: bucket.secretNamespace,
  creationTimestamp: bucket.createdAt.toISOString(),
  ready: bucket.condition.ready && bucket.observedGeneration === bucket.generation,
  reason: bucket.phase === "deleting" ? "Deleting" : bucket.condition.reason,
  message: bucket.condition.message,
});
