import { Problem } from "@swath/service";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { type Static, Type } from "typebox";

import type { Action } from "../access/actions.ts";
import { type Principal, type RobotPermission, findRights } from "../access/principal.ts";
import { addAudit } from "../store/audit.ts";
import { findProject, findProjectById } from "../store/projects.ts";
import {
  type Robot,
  createRobot,
  deleteRobot,
  findRobot,
  listRobots,
  renewRobotSecret,
  updateRobot,
} from "../store/robots.ts";
import { type ApiContext, pickPage, requireLogin } from "./context.ts";

/** Another effect than these would allow what it was to deny. */
const Effect = Type.Optional(Type.Union([Type.Null(), Type.Enum(["", "allow", "deny"])]));
const Permission = Type.Object({
  kind: Type.Optional(Type.String()),
  /** A project, or `*`. */
  namespace: Type.String({ maxLength: 128 }),
  access: Type.Array(Type.Object({ resource: Type.String(), action: Type.String(), effect: Effect }), {
    maxItems: 100,
  }),
});
const RobotBody = Type.Object({
  name: Type.String({ maxLength: 300 }),
  description: Type.Optional(Type.String({ maxLength: 1024 })),
  level: Type.Union([Type.Literal("system"), Type.Literal("project")]),
  /** Days; -1: for ever. */
  duration: Type.Integer({ minimum: -1, maximum: 36_500 }),
  disable: Type.Optional(Type.Boolean()),
  permissions: Type.Array(Permission, { minItems: 1, maxItems: 100 }),
});
type RobotBody = Static<typeof RobotBody>;
/** The registry chooses secrets; Harbor's empty one asks for that as well. */
const Renewal = Type.Object({ secret: Type.Optional(Type.Literal("")) }, { additionalProperties: false });

const NAME = /^[a-z0-9]+(?:[._-][a-z0-9]+)*$/;
const DAY_MS = 86_400_000;

/** Robot accounts: for programs, of one project or of the whole registry. */
export function addRobotRoutes(app: FastifyInstance, context: ApiContext): void {
  const { database } = context;

  /** Whoever administers a project has its robots; those of the registry are the administrator's. */
  const requireRight = async (principal: Principal, project: string | undefined) => {
    const found = project === undefined ? undefined : await findProject(database, project);
    const isAllowed =
      principal.kind === "admin" ||
      (found !== undefined && (await findRights(database, principal, found)).has("admin"));
    if (!isAllowed) {
      throw new Problem(403, "Only an administrator of the project may manage its robots.");
    }
    if (project !== undefined && found === undefined) {
      throw new Problem(404, `The project ${project} does not exist.`);
    }
    return found;
  };
  const find = async (request: FastifyRequest): Promise<{ principal: Principal; robot: Robot }> => {
    const principal = await requireLogin(context, request);
    const id = Number((request.params as { robot: string }).robot);
    const robot = Number.isSafeInteger(id) ? await findRobot(database, id) : undefined;
    if (robot === undefined) {
      throw new Problem(404, "The robot does not exist.");
    }
    await requireRight(principal, robot.project);
    return { principal, robot };
  };
  const audit = (principal: Principal, operation: string, { project, fullName }: Pick<Robot, "project" | "fullName">) =>
    addAudit(database, {
      actor: principal.name,
      operation,
      project: project ?? "",
      resourceType: "robot",
      resource: fullName,
    });

  app.get("/robots", async (request, reply) => {
    const principal = await requireLogin(context, request);
    const projectId = /ProjectID=(\d{1,18})/.exec((request.query as { q?: string }).q ?? "")?.[1];
    const project = projectId === undefined ? undefined : await findProjectById(database, projectId);
    if (projectId !== undefined && project === undefined) {
      throw new Problem(404, "The project does not exist.");
    }
    await requireRight(principal, project?.name);
    return pickPage(request, reply, await listRobots(database, project?.id ?? null)).map(toRobotJson);
  });

  app.post("/robots", { schema: { body: RobotBody } }, async (request, reply) => {
    const principal = await requireLogin(context, request);
    const body = request.body as RobotBody;
    const permissions = parsePermissions(body);
    if (!NAME.test(body.name)) {
      throw new Problem(
        400,
        "The name of a robot must be lower-case letters and digits with single . _ - between them.",
      );
    }
    const project = await requireRight(principal, body.level === "project" ? permissions[0]?.project : undefined);
    const expiresAt = toExpiry(body.duration);
    const made = await createRobot(database, {
      projectId: project?.id ?? null,
      name: body.name,
      description: body.description ?? "",
      permissions,
      expiresAt,
      createdBy: principal.name,
    });
    if (made === undefined) {
      throw new Problem(409, `A robot ${body.name} already exists.`);
    }
    const robot = (await findRobot(database, made.id)) as Robot;
    await audit(principal, "create", robot);
    return reply
      .code(201)
      .header("location", `/api/v2.0/robots/${made.id}`)
      .send({
        id: made.id,
        name: robot.fullName,
        secret: made.secret,
        creation_time: robot.createdAt.toISOString(),
        expires_at: toSeconds(robot.expiresAt),
      });
  });

  app.get("/robots/:robot", async (request) => toRobotJson((await find(request)).robot));

  app.put("/robots/:robot", { schema: { body: RobotBody } }, async (request) => {
    const { principal, robot } = await find(request);
    const body = request.body as RobotBody;
    const permissions = parsePermissions({ ...body, level: robot.project === undefined ? "system" : "project" });
    if (robot.project !== undefined && permissions[0]?.project !== robot.project) {
      throw new Problem(
        400,
        `The robot belongs to project ${robot.project}; its permissions cannot be on another one.`,
      );
    }
    await updateRobot(database, robot.id, {
      description: body.description ?? "",
      permissions,
      expiresAt: toExpiry(body.duration),
      isDisabled: body.disable ?? false,
    });
    await audit(principal, "update", robot);
    return {};
  });

  // A new secret; the old one ends.
  app.patch("/robots/:robot", { schema: { body: Renewal } }, async (request) => {
    const { principal, robot } = await find(request);
    const secret = await renewRobotSecret(database, robot.id);
    await audit(principal, "update", robot);
    return { secret };
  });

  app.delete("/robots/:robot", async (request) => {
    const { principal, robot } = await find(request);
    await deleteRobot(database, robot.id);
    await audit(principal, "delete", robot);
    return {};
  });
}

/** @throws {Problem} 400 when they grant nothing, or a robot of a project something elsewhere */
function parsePermissions({
  level,
  permissions,
}: Pick<RobotBody, "level" | "permissions">): readonly RobotPermission[] {
  const parsed = permissions.map(({ namespace, access }) => ({
    project: namespace,
    actions: [...new Set(access.filter(({ effect }) => effect !== "deny").flatMap(toActions))],
  }));
  if (level === "project" && (parsed.length !== 1 || parsed[0]?.project === "*")) {
    throw new Problem(400, "A robot of a project has permissions on that project alone.");
  }
  if (parsed.every(({ actions }) => actions.length === 0)) {
    throw new Problem(400, "The permissions grant nothing; allowed: pull, push and delete of the resource repository.");
  }
  return parsed;
}

function toActions({ resource, action }: { readonly resource: string; readonly action: string }): readonly Action[] {
  switch (`${resource}:${action}`) {
    case "repository:pull":
    case "repository:read":
    case "artifact:read":
      return ["pull"];
    case "repository:push":
    case "artifact:create":
    case "tag:create":
      return ["push"];
    case "repository:delete":
    case "artifact:delete":
    case "tag:delete":
      return ["delete"];
    default:
      return [];
  }
}

const toExpiry = (days: number): Date | null => (days < 0 ? null : new Date(Date.now() + days * DAY_MS));
const toSeconds = (date: Date | undefined): number => (date === undefined ? -1 : Math.floor(date.getTime() / 1000));

function toRobotJson(robot: Robot) {
  return {
    id: robot.id,
    name: robot.fullName,
    description: robot.description,
    level: robot.project === undefined ? "system" : "project",
    disable: robot.isDisabled,
    duration:
      robot.expiresAt === undefined ? -1 : Math.ceil((robot.expiresAt.getTime() - robot.createdAt.getTime()) / DAY_MS),
    expires_at: toSeconds(robot.expiresAt),
    permissions: robot.permissions.map(({ project, actions }) => ({
      kind: "project",
      namespace: project,
      access: actions.map((action) => ({ resource: "repository", action })),
    })),
    editable: true,
    creation_time: robot.createdAt.toISOString(),
    update_time: robot.updatedAt.toISOString(),
  };
}
