import { decodePercent } from "@swath/service";
import type { FastifyInstance } from "fastify";
import type pg from "pg";
import { type Static, Type } from "typebox";

import { type ObjectChange, applyObjectChanges } from "../store/watched-objects.ts";

/** Event messages of Amazon S3 (version 2.1); the test event of a new configuration has no records. */
const EventBody = Type.Object(
  {
    Records: Type.Optional(
      Type.Array(
        Type.Object(
          {
            eventName: Type.String({ maxLength: 100 }),
            s3: Type.Object(
              {
                bucket: Type.Object({ name: Type.String({ maxLength: 255 }) }, { additionalProperties: true }),
                object: Type.Object(
                  { key: Type.String({ maxLength: 4096 }), eTag: Type.Optional(Type.String({ maxLength: 255 })) },
                  { additionalProperties: true },
                ),
              },
              { additionalProperties: true },
            ),
          },
          { additionalProperties: true },
        ),
        { maxItems: 1000 },
      ),
    ),
  },
  { additionalProperties: true },
);

/** Takes over what the object storage tells of its buckets: durable once it is answered. */
export function addObjectEventRoute(app: FastifyInstance, pool: pg.Pool): void {
  app.post<{ Body: Static<typeof EventBody> }>("/events", { schema: { body: EventBody } }, async (request, reply) => {
    const changes = (request.body.Records ?? []).flatMap((record): ObjectChange[] => {
      const { bucket, object } = record.s3;
      const change = { bucket: bucket.name, key: decodeKey(object.key) };
      const [family] = record.eventName.replace(/^s3:/, "").split(":");
      switch (family) {
        case "ObjectCreated":
          return [{ ...change, etag: object.eTag ?? "" }];
        case "ObjectRemoved":
        case "LifecycleExpiration":
          return [change];
        default:
          return [];
      }
    });
    if (changes.length > 0) {
      await applyObjectChanges(pool, changes);
    }
    return reply.code(204).send();
  });
}

/** Keys are written as in a form: a blank is a plus. */
function decodeKey(key: string): string {
  return decodePercent(key.replaceAll("+", " "));
}
