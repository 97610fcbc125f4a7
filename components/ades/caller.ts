import { type Caller, type CallerOptions, IGNORED_TOKEN_HEADER, createCallerOf } from "@swath/auth";
import { Problem } from "@swath/service";
import type { FastifyReply, FastifyRequest } from "fastify";

/** Whether a caller may use the space of a user: its own, or every one for the administrator. */
const mayUse = ({ isAdmin, user }: Caller, space: string): boolean => isAdmin || user?.username === space;

/**
 * Lets a request into a user's space: with a token of that user or of the administrator.
 * @throws {Problem} 401, 403, 503
 */
export function createGuard(
  options: Omit<CallerOptions, "realm">,
): (request: FastifyRequest, reply: FastifyReply) => Promise<void> {
  const callerOf = createCallerOf({ ...options, realm: "ades" });
  return async (request, reply) => {
    const { user } = request.params as { user: string };
    const caller = await callerOf(request);
    if (caller.ignored !== undefined) {
      void reply.header(IGNORED_TOKEN_HEADER, caller.ignored);
    }
    if (!mayUse(caller, user)) {
      const name = caller.user?.username ?? "nobody with a name";
      throw new Problem(403, `This is the space of ${user}; the token is of ${name}.`);
    }
  };
}
