import { type Caller, type CallerOptions, IGNORED_TOKEN_HEADER, createCallerOf } from "@swath/auth";
import { Problem } from "@swath/service";
import type { FastifyReply, FastifyRequest } from "fastify";

import type { SpaceOwners } from "./store/space-owners.ts";

interface GuardOptions extends Omit<CallerOptions, "realm"> {
  readonly isSpaceOf: SpaceOwners;
}

/**
 * Lets a request into a user's space: with a token of the subject whose space it is, or of an administrator.
 * @throws {Problem} 401, 403, 503
 */
export function createGuard({
  isSpaceOf,
  ...options
}: GuardOptions): (request: FastifyRequest, reply: FastifyReply) => Promise<void> {
  const callerOf = createCallerOf({ ...options, realm: "ades" });
  return async (request, reply) => {
    const { user } = request.params as { user: string };
    const caller = await callerOf(request);
    if (caller.ignored !== undefined) {
      void reply.header(IGNORED_TOKEN_HEADER, caller.ignored);
    }
    await checkSpace(caller, user, isSpaceOf);
  };
}

async function checkSpace({ isAdmin, user }: Caller, space: string, isSpaceOf: SpaceOwners): Promise<void> {
  if (isAdmin) {
    return;
  }
  if (user === undefined || user.username !== space) {
    const name = user?.username ?? "nobody with a name";
    throw new Problem(403, `This is the space of ${space}; the token is of ${name}.`);
  }
  if (!(await isSpaceOf(space, user.id))) {
    throw new Problem(
      403,
      `The space ${space} belongs to another account that had this name. An administrator can empty it: then it is yours.`,
    );
  }
}
