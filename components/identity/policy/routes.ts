import { releaseOnClose } from "@swath/service/caller-limits";
import type { FastifyInstance } from "fastify";
import { PassThrough } from "node:stream";

import type { IdentityContext } from "../context.ts";
import { Form } from "../protocol/form.ts";
import { authenticateConfidentialClient } from "../protocol/client-authentication.ts";
import { findRealmOr404, sendOAuthError } from "../protocol/realm-scope.ts";
import type { Change } from "../store/changes.ts";
import { loadPolicySet } from "./load-policy-set.ts";

/** A comment comes this often, so that a broken stream is noticed. */
const HEARTBEAT = 10_000;

/** One of each process of a gatekeeper; more while these are replaced. */
export const POLICY_STREAMS = { name: "policy streams", perUser: 50, perAddress: 50, total: 500 };

/** What the gatekeeper asks: a client's rules, and when to forget them. README.md has the interface. */
export function addPolicyRoutes(app: FastifyInstance, context: IdentityContext): void {
  const places = context.limits.createPlaces(POLICY_STREAMS);
  app.register(async (scope) => {
    scope.setErrorHandler(sendOAuthError);

    scope.get<{ Params: { realm: string; clientId: string } }>(
      "/internal/realms/:realm/clients/:clientId/policy-set",
      { schema: { hide: true } },
      async (request, reply) => {
        const handle = await findRealmOr404(context, request.params.realm);
        const caller = await authenticateConfidentialClient(handle, request.headers.authorization, new Form({}));
        const { clientId } = request.params;
        if (caller.clientId !== clientId) {
          return reply.code(404).send({ error: "not_found", error_description: "Only a client's own rules are given" });
        }
        const set = await loadPolicySet(context.pool, handle.realm.id, caller);
        const tag = `"${set.version}"`;
        void reply.headers({ etag: tag, "cache-control": "no-cache" });
        return request.headers["if-none-match"] === tag ? reply.code(304).send() : set;
      },
    );

    scope.get<{ Params: { realm: string } }>(
      "/internal/realms/:realm/policy-events",
      { schema: { hide: true } },
      async (request, reply) => {
        const { realm } = request.params;
        const handle = await findRealmOr404(context, realm);
        const client = await authenticateConfidentialClient(handle, request.headers.authorization, new Form({}));
        releaseOnClose(reply.raw, places.take({ user: `${realm} ${client.clientId}`, address: request.ip }));
        const { events } = context.changes;
        const stream = new PassThrough();
        const send = (event: string, data: object) =>
          stream.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
        const onChange = (change: Change) => {
          if (change.realm === realm) {
            const [event, data] = toEvent(change);
            send(event, data);
          }
        };
        // Something may have been missed: the listener connects again and forgets everything.
        const onLost = () => stream.end();
        const heartbeat = setInterval(() => stream.write(": alive\n\n"), HEARTBEAT);
        events.on("change", onChange);
        events.on("lost", onLost);
        const stop = () => {
          clearInterval(heartbeat);
          events.off("change", onChange);
          events.off("lost", onLost);
        };
        stream.once("close", stop);
        request.raw.once("close", () => stream.destroy());
        if (context.changes.isConnected()) {
          send("ready", {});
        } else {
          stream.end();
        }
        return reply
          .headers({ "content-type": "text/event-stream", "cache-control": "no-cache", "x-accel-buffering": "no" })
          .send(stream);
      },
    );
  });
}

function toEvent(change: Change): [string, object] {
  switch (change.kind) {
    case "policy":
      return ["policy", change.clientId === undefined ? {} : { clientId: change.clientId }];
    case "client":
      return ["policy", { clientId: change.clientId }];
    case "session":
      return ["session", { sid: change.sid }];
    case "user":
      // After the commit: what was read later has the change in it.
      return ["user", { sub: change.sub, at: Date.now() }];
    case "token":
      return ["token", { jti: change.jti }];
    case "realm":
      return change.keys ? ["keys", {}] : ["policy", {}];
  }
}
