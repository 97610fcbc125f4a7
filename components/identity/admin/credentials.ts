import type { FastifyInstance } from "fastify";

import type { IdentityContext } from "../context.ts";
import { removePasskey } from "../login/passkeys.ts";
import { removeOtpDevice } from "../login/second-factor.ts";
import { listPasskeys } from "../store/passkeys.ts";
import { listOtpDevices } from "../store/second-factors.ts";
import { findPassword } from "../store/users.ts";
import { notFound } from "./errors.ts";
import { forRoles } from "./request.ts";
import { openUser } from "./users.ts";

/** What a user logs in with: the password, and devices that make one-time codes. Secrets are not shown. */
export function addCredentialRoutes(app: FastifyInstance, context: IdentityContext): void {
  const { pool } = context;
  const base = "/admin/realms/:realm/users/:user/credentials";
  app.get(
    base,
    forRoles(context, ["view-users"], async (request) => {
      const user = await openUser(request);
      const [password, devices] = await Promise.all([findPassword(pool, user.id), listOtpDevices(pool, user.id)]);
      const passkeys = await listPasskeys(pool, user.id);
      return [
        ...(password === undefined
          ? []
          : [
              {
                id: user.id,
                type: "password",
                createdDate: password.changedAt.getTime(),
                temporary: password.temporary,
              },
            ]),
        ...devices.map(({ id, label, createdAt }) => ({
          id,
          type: "otp",
          userLabel: label,
          createdDate: createdAt.getTime(),
          credentialData: JSON.stringify({ subType: "totp", digits: 6, period: 30, algorithm: "HmacSHA1" }),
        })),
        ...passkeys.map(({ id, label, createdAt, credentialId, transports }) => ({
          id,
          type: "webauthn",
          userLabel: label,
          createdDate: createdAt.getTime(),
          credentialData: JSON.stringify({ credentialId, transports }),
        })),
      ];
    }),
  );
  app.delete(
    `${base}/:credential`,
    forRoles(context, ["manage-users"], async (request) => {
      const { actor, handle, params, change, reply } = request;
      const user = await openUser(request);
      const device = params["credential"] ?? "";
      const resourcePath = `users/${user.id}/credentials/${device}`;
      const isRemoved = await change(
        { operation: "DELETE", resourceType: "USER", resourcePath },
        async (db) =>
          (await removeOtpDevice(db, handle.realm, { userId: user.id, device, ip: actor.ip })) ||
          removePasskey(db, handle, { user, passkey: device, ip: actor.ip }),
      );
      if (!isRemoved) {
        throw notFound("Credential");
      }
      return reply.code(204).send();
    }),
  );
}
