import { Problem } from "@swath/service";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { type Static, Type } from "typebox";

import { addAudit } from "../store/audit.ts";
import {
  UPSTREAM_KINDS,
  type Upstream,
  type UpstreamValues,
  deleteUpstream,
  findUpstream,
  insertUpstream,
  listUpstreams,
  updateUpstream,
} from "../store/upstreams.ts";
import { explain } from "../upstreams/upstreams.ts";
import { type ApiContext, pickPage, requireAdmin } from "./context.ts";

const AccessKey = Type.Optional(Type.String({ maxLength: 256, pattern: "^[^:\\x00-\\x1f]*$" }));
const AccessSecret = Type.Optional(Type.String({ maxLength: 4096 }));
const CredentialType = Type.Optional(Type.Enum(["basic", ""]));
const Credential = Type.Object({ type: CredentialType, access_key: AccessKey, access_secret: AccessSecret });
const Body = Type.Object({
  name: Type.String({ minLength: 1, maxLength: 128 }),
  description: Type.Optional(Type.String({ maxLength: 1024 })),
  type: Type.Optional(Type.Enum([...UPSTREAM_KINDS])),
  url: Type.String({ maxLength: 1000 }),
  credential: Type.Optional(Type.Union([Credential, Type.Null()])),
  insecure: Type.Optional(Type.Literal(false)),
  ca_certificate: Type.Optional(Type.Literal("")),
});
type Body = Static<typeof Body>;
/** Harbor's API has the login of a change beside the other fields. */
const Change = Type.Partial(
  Type.Object({
    ...Body.properties,
    credential_type: CredentialType,
    access_key: AccessKey,
    access_secret: AccessSecret,
  }),
);
type Change = Static<typeof Change>;

/** One that is added already; what its address leads to is shown to nobody before. */
const Ping = Type.Object({ id: Type.Integer({ minimum: 1 }) });

/** What is shown in place of a secret; clients that write what they have read send it back. */
const MASK = "*****";

/** Docker Hub's address for people is not that of its API. */
const DOCKER_HUB = "https://registry-1.docker.io";
const DOCKER_HUB_PAGE = "https://hub.docker.com";
const HUB_HOSTS = new Set(["hub.docker.com", "docker.io", "index.docker.io", "registry-1.docker.io"]);

/** Registries of others, for projects that are caches and for replication: the administrator's. */
export function addRegistryRoutes(app: FastifyInstance, context: ApiContext): void {
  const { database, upstreams } = context;
  const find = async (request: FastifyRequest): Promise<Upstream> => {
    const { registry } = request.params as { registry: string };
    const found = /^\d{1,18}$/.test(registry) ? await findUpstream(database, registry) : undefined;
    if (found === undefined) {
      throw new Problem(404, "The registry does not exist.");
    }
    return found;
  };
  const audit = (actor: string, operation: string, resource: string) =>
    addAudit(database, { actor, operation, project: "", resourceType: "registry", resource });
  const toValues = (body: Body, before: Upstream | undefined): UpstreamValues => {
    const url = toUrl(body);
    const credential = readCredential(body);
    // A login that is not given again stays, for the same address alone: it must not be sent to another one.
    const keeps = before?.url === url && credential?.access_secret === undefined && credential !== null;
    const isSame = credential === undefined || credential === null || credential.access_key === before?.username;
    return {
      name: body.name,
      description: body.description ?? "",
      kind: url === DOCKER_HUB ? "docker-hub" : body.type === "harbor" ? "harbor" : "docker-registry",
      url,
      ...(keeps && isSame
        ? { username: before.username, sealedSecret: before.sealedSecret }
        : credential?.access_key && credential.access_secret
          ? { username: credential.access_key, sealedSecret: upstreams.seal(credential.access_secret, url) }
          : { username: undefined, sealedSecret: undefined }),
    };
  };

  app.get("/registries", async (request, reply) => {
    await requireAdmin(context, request);
    return pickPage(request, reply, await listUpstreams(database)).map(toRegistryJson);
  });
  app.post("/registries", { schema: { body: Body } }, async (request, reply) => {
    const { name: actor } = await requireAdmin(context, request);
    const values = toValues(request.body as Body, undefined);
    const id = await insertUpstream(database, values);
    if (id === undefined) {
      throw new Problem(409, `A registry ${values.name} already exists.`);
    }
    await audit(actor, "create", values.name);
    return reply.code(201).header("location", `/api/v2.0/registries/${id}`).send();
  });
  app.get("/registries/:registry", async (request) => {
    await requireAdmin(context, request);
    return toRegistryJson(await find(request));
  });
  app.put("/registries/:registry", { schema: { body: Change } }, async (request) => {
    const { name: actor } = await requireAdmin(context, request);
    const before = await find(request);
    const { access_key, access_secret, credential_type: _, ...change } = request.body as Change;
    const credential =
      access_key === undefined && access_secret === undefined
        ? change.credential
        : { ...(access_key !== undefined && { access_key }), ...(access_secret !== undefined && { access_secret }) };
    const fields = { name: before.name, description: before.description, url: before.url, type: before.kind };
    const values = toValues({ ...fields, ...change, ...(credential !== undefined && { credential }) }, before);
    if (!(await updateUpstream(database, before.id, values))) {
      throw new Problem(409, `A registry ${values.name} already exists.`);
    }
    await audit(actor, "update", values.name);
    return {};
  });
  app.delete("/registries/:registry", async (request) => {
    const { name: actor } = await requireAdmin(context, request);
    const { id, name } = await find(request);
    const users = await database.transact((tx) => deleteUpstream(tx, id));
    if (users.length > 0) {
      throw new Problem(412, `The registry ${name} is used by ${users.join(", ")}.`);
    }
    await audit(actor, "delete", name);
    return {};
  });
  app.get("/registries/:registry/info", async (request) => {
    await requireAdmin(context, request);
    const { kind, description } = await find(request);
    return {
      type: kind,
      description,
      supported_resource_filters: ["name", "tag"].map((type) => ({ type, style: "input" })),
      supported_triggers: ["manual", "scheduled"],
    };
  });
  app.get("/replication/adapters", async (request) => {
    await requireAdmin(context, request);
    return UPSTREAM_KINDS;
  });
  // Whether it answers, and takes the login: of the number in the path, or in the body.
  app.post("/registries/ping", { schema: { body: Ping } }, async (request) => {
    await requireAdmin(context, request);
    const { id } = request.body as Static<typeof Ping>;
    const upstream = await findUpstream(database, String(id));
    if (upstream === undefined) {
      throw new Problem(404, "The registry does not exist.");
    }
    return ping(upstream);
  });
  app.post("/registries/:registry/ping", async (request) => {
    await requireAdmin(context, request);
    return ping(await find(request));
  });
  const ping = async (upstream: Upstream) => {
    try {
      await upstreams.open(upstream).client.check();
    } catch (error) {
      throw new Problem(502, `The registry ${upstream.name} does not answer as it should: ${explain(error)}`);
    }
    return {};
  };
}

/** The login of a body; undefined where it names none, null where it is to be removed. */
function readCredential({ credential }: Body): Body["credential"] {
  if (credential === undefined || credential === null) {
    return credential;
  }
  const { access_key: key, access_secret: secret } = credential;
  if (key === "" && (secret ?? "") === "") {
    return null;
  }
  if (key === undefined && (secret === undefined || secret === "")) {
    return undefined;
  }
  return { ...(key !== undefined && { access_key: key }), ...(secret !== MASK && { access_secret: secret }) };
}

function toUrl({ url: text, type }: Body): string {
  const url = URL.parse(type === "docker-hub" && text === "" ? DOCKER_HUB : text);
  if (
    url === null ||
    !/^https?:$/.test(url.protocol) ||
    url.username !== "" ||
    url.password !== "" ||
    url.pathname !== "/" ||
    url.search !== "" ||
    url.hash !== ""
  ) {
    throw new Problem(
      400,
      "url must be the address of a registry, such as https://registry.example.org, without a path and a login.",
    );
  }
  return HUB_HOSTS.has(url.hostname) ? DOCKER_HUB : url.origin;
}

/** The secret is told to the registry alone. */
function toRegistryJson(upstream: Upstream) {
  const { pausedUntil } = upstream;
  return {
    id: Number(upstream.id),
    name: upstream.name,
    description: upstream.description,
    type: upstream.kind,
    url: upstream.url === DOCKER_HUB ? DOCKER_HUB_PAGE : upstream.url,
    ...(upstream.username !== undefined && {
      credential: { type: "basic", access_key: upstream.username, access_secret: MASK },
    }),
    insecure: false,
    status: upstream.failure === undefined ? "healthy" : "unhealthy",
    status_text: upstream.failure ?? null,
    rate_limit: upstream.rateLimit ?? null,
    rate_remaining: upstream.rateRemaining ?? null,
    paused_until: pausedUntil !== undefined && pausedUntil.getTime() > Date.now() ? pausedUntil.toISOString() : null,
    creation_time: upstream.createdAt.toISOString(),
    update_time: upstream.updatedAt.toISOString(),
  };
}
