import { Problem } from "@swath/service";
import type { FastifyInstance } from "fastify";
import { type Static, Type } from "typebox";

import { parseKey } from "../signatures/cosign.ts";
import { addAudit } from "../store/audit.ts";
import { updateProject } from "../store/projects.ts";
import { type ApiContext, requireProject } from "./context.ts";

const Keys = Type.Object({ keys: Type.Array(Type.String({ maxLength: 4096 }), { maxItems: 20 }) });
const PATH = "/projects/:project/trusted-keys";

/** Public keys whose signatures a project trusts: with `enable_content_trust_cosign`, only what they signed is processed. */
export function addTrustedKeyRoutes(app: FastifyInstance, context: ApiContext): void {
  const { database } = context;
  app.get(PATH, async (request) => {
    const { project } = await requireProject(context, request, "maintain");
    return { keys: project.trustedKeys };
  });
  app.put(PATH, { schema: { body: Keys } }, async (request) => {
    const { project, principal } = await requireProject(context, request, "admin");
    const keys = (request.body as Static<typeof Keys>).keys.map((key) => key.trim());
    const wrong = keys.findIndex((key) => parseKey(key) === undefined);
    if (wrong >= 0) {
      throw new Problem(
        400,
        `Key ${wrong + 1} is not a public key in PEM of type EC, RSA or Ed25519, such as cosign.pub.`,
      );
    }
    await database.transact(async (tx) => {
      await updateProject(tx, project.id, { trustedKeys: keys });
      const entry = { actor: principal.name, operation: "update", project: project.name };
      await addAudit(tx, { ...entry, resourceType: "trusted keys", resource: `${keys.length}` });
    });
    return {};
  });
}
