import type { FastifyInstance } from "fastify";

/** Address of callers that come by a unix socket and name no other: services of this machine. */
export const LOCAL_ADDRESS = "127.0.0.1";

/** Makes `request.ip` what its type says. A unix socket has no address, so Fastify leaves it undefined there. */
export function nameLocalCallers(app: FastifyInstance): void {
  app.addHook("onRequest", (request, _reply, done) => {
    if ((request.ip as string | undefined) === undefined) {
      Object.defineProperty(request, "ip", { value: LOCAL_ADDRESS });
    }
    done();
  });
}
