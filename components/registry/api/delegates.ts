import { Problem, type SecretCheck, readBearer } from "@swath/service";
import type { FastifyInstance } from "fastify";
import { type Static, Type } from "typebox";

import { DELEGATE_SECONDS, type Delegates } from "../access/delegates.ts";

const Body = Type.Object({ user: Type.String({ minLength: 1, maxLength: 255, pattern: "^[^\\u0000-\\u001f:]+$" }) });

interface DelegateOptions {
  readonly delegates: Delegates;
  /** Knows what the processing service has to show; without it there are no delegates. */
  readonly isSecret: SecretCheck | undefined;
}

/** Credentials for pulls in the name of a user, for the processing service alone. */
export function addDelegateRoutes(app: FastifyInstance, { delegates, isSecret }: DelegateOptions): void {
  if (isSecret === undefined) {
    return;
  }
  app.post("/api/delegates", { schema: { body: Body } }, async ({ headers, body }, reply) => {
    if (!isSecret(readBearer(headers.authorization))) {
      throw new Problem(401, "Only the processing service gets these credentials.");
    }
    const { username, password } = await delegates.create((body as Static<typeof Body>).user);
    return reply.code(201).send({ username, password, expires_in: DELEGATE_SECONDS });
  });
}
