import { randomBytes } from "node:crypto";
import { setImmediate as nextTurn } from "node:timers/promises";

import { Problem } from "@swath/service";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { type Static, Type } from "typebox";

import { noContext } from "../access/circumstances.ts";
import { isAllowed } from "../access/evaluate.ts";
import { nameOf } from "../access/principal.ts";
import type { ObjectStore } from "../store/store.ts";
import { type PresignMethod, presign } from "./presign.ts";
import type { Session } from "./sessions.ts";

interface LinkRoutesDeps {
  readonly store: ObjectStore;
  readonly publicUrl: string;
  readonly region: string;
  /** @throws {Problem} 401 */
  readonly callerOf: (request: FastifyRequest) => Session;
}

const WEEK = 604_800;
/** Signatures between which others have their turn; one takes 0.1 ms. */
const SIGNED_IN_TURN = 50;
const Signed = Type.Object({
  bucket: Type.String({ minLength: 1 }),
  /** Left out: a request about the bucket. */
  key: Type.Optional(Type.String({ minLength: 1 })),
  method: Type.Union(["GET", "PUT", "POST", "HEAD", "DELETE"].map((name) => Type.Literal(name as PresignMethod))),
  seconds: Type.Integer({ minimum: 1, maximum: WEEK }),
  query: Type.Optional(Type.Record(Type.String(), Type.String())),
  headers: Type.Optional(Type.Record(Type.String({ pattern: "^[a-z0-9-]+$" }), Type.String({ pattern: "^[ -~]*$" }))),
});
const SignedList = Type.Object({ requests: Type.Array(Signed, { minItems: 1, maxItems: 1000 }) });
const Share = Type.Object({
  bucket: Type.String({ minLength: 1 }),
  key: Type.String({ minLength: 1 }),
  versionId: Type.Optional(Type.String()),
  seconds: Type.Integer({ minimum: 60, maximum: WEEK }),
});

/** URLs that carry their own right: for what the console's pages do themselves, and for sharing. */
export function addLinkRoutes(app: FastifyInstance, { store, publicUrl, region, callerOf }: LinkRoutesDeps): void {
  const sign = (credential: Session["key"], request: Omit<Parameters<typeof presign>[0], "credential" | "now">) =>
    presign({ ...request, credential, now: store.now() });

  app.post<{ Body: Static<typeof Signed> | Static<typeof SignedList> }>(
    "/api/presign",
    { schema: { body: Type.Union([Signed, SignedList]) } },
    async (request) => {
      const { key: credential } = callerOf(request);
      const { body } = request;
      const toUrl = (requested: Static<typeof Signed>) => sign(credential, { ...requested, publicUrl, region });
      if (!("requests" in body)) {
        return { url: await toUrl(body) };
      }
      const urls: string[] = [];
      for (const requested of body.requests) {
        urls.push(await toUrl(requested));
        if (urls.length % SIGNED_IN_TURN === 0) {
          await nextTurn();
        }
      }
      return { urls };
    },
  );

  /**
   * A link to read one object, signed with a key of its own: it lives as long as was asked for, whatever becomes of the session
   * that made it, may nothing else, and ends when the rights of whoever made it end.
   */
  app.post<{ Body: Static<typeof Share> }>("/api/share", { schema: { body: Share } }, async (request, reply) => {
    const { principal, key: own } = callerOf(request);
    const { bucket, key, versionId, seconds } = request.body;
    const action = versionId === undefined ? "s3:GetObject" : "s3:GetObjectVersion";
    if (
      !isAllowed(principal, store.buckets.find(bucket), { action, resource: `${bucket}/${key}`, context: noContext })
    ) {
      throw new Problem(403, `You may not read ${key} of ${bucket}, so you cannot share it.`);
    }
    const expires = store.now() + seconds * 1000;
    const made = await store.accounts.createKey({
      kind: "ASIA",
      user: nameOf(principal),
      title: `link to ${bucket}/${key}`.slice(0, 200),
      policy: own.policy ?? undefined,
      expires,
      token: randomBytes(16).toString("base64url"),
      claims: own.claims ?? undefined,
      roles: own.roles === null ? undefined : (JSON.parse(own.roles) as string[]),
      // A session ends when somebody signs out; what it came from is what the link depends on.
      parent: own.parent ?? (own.token === null && principal.kind !== "root" ? own.id : undefined),
      sessionPolicy: JSON.stringify(toReadPolicy(action, bucket, key)),
    });
    const query = versionId === undefined ? {} : { versionId };
    const url = await sign(made, { publicUrl, region, method: "GET", bucket, key, seconds, query });
    return reply.code(201).send({ url, accessKey: made.id, expires: new Date(expires).toISOString() });
  });
}

/** Characters that mean more in a policy are matched by `?`: any one character, never more. */
function toReadPolicy(action: string, bucket: string, key: string) {
  const pattern = key.replace(/[*?$]/g, "?");
  return {
    Version: "2012-10-17",
    Statement: [{ Effect: "Allow", Action: action, Resource: `arn:aws:s3:::${bucket}/${pattern}` }],
  };
}
