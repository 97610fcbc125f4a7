import { Problem } from "@swath/service";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { type Static, Type } from "typebox";

import { addAudit } from "../store/audit.ts";
import { type Project, updateProject } from "../store/projects.ts";
import { type ApiContext, requireProject } from "./context.ts";

const Value = Type.Enum(["true", "false"]);
/** Settings of projects that are texts in the API, and what each is here. */
export const Metadata = Type.Object({
  public: Type.Optional(Value),
  allow_sparse_index: Type.Optional(Value),
  enable_content_trust_cosign: Type.Optional(Value),
});
type Metadata = Static<typeof Metadata>;
const Change = Type.Object(Metadata.properties, { additionalProperties: false, minProperties: 1, maxProperties: 1 });
const PATH = "/projects/:project/metadatas";

export const toChange = ({
  public: isPublic,
  allow_sparse_index: sparse,
  enable_content_trust_cosign: signed,
}: Metadata) => ({
  ...(isPublic !== undefined && { isPublic: isPublic === "true" }),
  ...(sparse !== undefined && { allowsSparse: sparse === "true" }),
  ...(signed !== undefined && { preventsUnsigned: signed === "true" }),
});

export const toMetadata = (project: Project): Readonly<Record<keyof Metadata, string>> => ({
  public: String(project.isPublic),
  allow_sparse_index: String(project.allowsSparse),
  enable_content_trust_cosign: String(project.preventsUnsigned),
});

/** Settings of a project one by one: `/projects/{project}/metadatas`. */
export function addProjectMetadataRoutes(app: FastifyInstance, context: ApiContext): void {
  const { database } = context;
  const nameOf = (request: FastifyRequest): keyof Metadata => {
    const { name } = request.params as { name: string };
    if (!Object.hasOwn(Metadata.properties, name)) {
      throw new Problem(
        404,
        `There is no setting ${name.slice(0, 60)}; there are ${Object.keys(Metadata.properties).join(", ")}.`,
      );
    }
    return name as keyof Metadata;
  };
  const save = async (request: FastifyRequest, change: Metadata) => {
    const { project, principal } = await requireProject(context, request, "admin");
    await database.transact(async (tx) => {
      await updateProject(tx, project.id, toChange(change));
      const entry = { actor: principal.name, operation: "update", project: project.name };
      await addAudit(tx, { ...entry, resourceType: "project", resource: project.name });
    });
    return {};
  };

  app.get(PATH, async (request) => toMetadata((await requireProject(context, request, "pull")).project));
  app.post(PATH, { schema: { body: Change } }, (request) => save(request, request.body as Metadata));
  app.get(`${PATH}/:name`, async (request) => {
    const { project } = await requireProject(context, request, "pull");
    const name = nameOf(request);
    return { [name]: toMetadata(project)[name] };
  });
  app.put(`${PATH}/:name`, { schema: { body: Change } }, (request) => {
    const name = nameOf(request);
    const change = request.body as Metadata;
    if (change[name] === undefined) {
      throw new Problem(400, `The body must be {"${name}": "true"} or {"${name}": "false"}.`);
    }
    return save(request, change);
  });
  // Back to how a project begins.
  app.delete(`${PATH}/:name`, (request) => save(request, { [nameOf(request)]: "false" }));
}
