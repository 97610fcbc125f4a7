import { Problem } from "@swath/service";
import type { FastifyInstance } from "fastify";
import { type Static, Type } from "typebox";

import { DELEGATE_SECONDS, type Delegates } from "../access/delegates.ts";
import { digestSecret, isSecret } from "../access/secrets.ts";

const Body = Type.Object({ user: Type.String({ minLength: 1, maxLength: 255, pattern: "^[^\\u0000-\\u001f:]+$" }) });

interface DelegateOptions {
  readonly delegates: Delegates;
  /** What the processing service has to show; without one there are no delegates. */
  readonly secret: string | undefined;
}

/** Credentials for pulls in the name of a user, for the processing service alone. */
export function addDelegateRoutes(app: FastifyInstance, { delegates, secret }: DelegateOptions): void {
  if (secret === undefined) {
    return;
  }
  const digest = digestSecret(secret);
  app.post("/api/delegates", { schema: { body: Body } }, async ({ headers, body }, reply) => {
    const given = /^Bearer (\S+)$/i.exec(headers.authorization ?? "")?.[1];
    if (given === undefined || !isSecret(given, digest)) {
      throw new Problem(401, "Only the processing service gets these credentials.");
    }
    const { username, password } = await delegates.create((body as Static<typeof Body>).user);
    return reply.code(201).send({ username, password, expires_in: DELEGATE_SECONDS });
  });
}
