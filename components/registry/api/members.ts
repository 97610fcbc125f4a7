import { Problem } from "@swath/service";
import type { FastifyInstance } from "fastify";
import { type Static, Type } from "typebox";

import { findAccount } from "../store/accounts.ts";
import { addAudit } from "../store/audit.ts";
import { type Member, addMember, findMember, listMembers, removeMember, setMemberRole } from "../store/members.ts";
import { type ApiContext, readPage, requireProject, setPageHeaders } from "./context.ts";
import { parseRole, toRoleJson } from "./roles.ts";

const Name = Type.String({ minLength: 1, maxLength: 255, pattern: "^[^\\u0000-\\u001f]+$" });
const NewMember = Type.Object({
  role_id: Type.Integer(),
  // Go clients send an empty object for the one that they do not mean.
  member_user: Type.Optional(Type.Union([Type.Null(), Type.Object({ username: Type.Optional(Name) })])),
  member_group: Type.Optional(Type.Union([Type.Null(), Type.Object({ group_name: Type.Optional(Name) })])),
});
const RoleChange = Type.Object({ role_id: Type.Integer() });
const MEMBER = "/projects/:project/members/:member";

/** Members of projects: users of the identity service by name, and its groups and roles. */
export function addMemberRoutes(app: FastifyInstance, context: ApiContext): void {
  const { database } = context;
  const find = async (projectId: string, request: { readonly params: unknown }): Promise<Member> => {
    const id = Number((request.params as { member: string }).member);
    const member = Number.isSafeInteger(id) ? await findMember(database, projectId, id) : undefined;
    if (member === undefined) {
      throw new Problem(404, "The member does not exist.");
    }
    return member;
  };

  app.get("/projects/:project/members", async (request, reply) => {
    const { project, principal } = await requireProject(context, request, "pull");
    if (principal.kind === "anonymous") {
      throw new Problem(401, "Log in to see who is a member.");
    }
    const page = readPage(request);
    const { entityname } = request.query as { entityname?: string };
    const { members, total } = await listMembers(database, project.id, { name: entityname, ...page });
    setPageHeaders(request, reply, page, total);
    return members.map((member) => toMemberJson(project.id, member));
  });

  app.post("/projects/:project/members", { schema: { body: NewMember } }, async (request, reply) => {
    const { project, principal } = await requireProject(context, request, "admin");
    const { role_id: roleId, member_user: user, member_group: group } = request.body as Static<typeof NewMember>;
    const role = parseRole(roleId);
    const [username, groupName] = [user?.username, group?.group_name];
    const name = username ?? groupName;
    if (name === undefined || (username !== undefined && groupName !== undefined)) {
      throw new Problem(400, "Name one of member_user.username and member_group.group_name.");
    }
    // Whoever comes first with a name would have the right; the administrator gives it before a user's first login, as for a workspace.
    if (username !== undefined && principal.kind !== "admin" && (await findAccount(database, username)) === undefined) {
      throw new Problem(
        404,
        `There is no user ${username} here: users are known when they log in to the registry for the first time.`,
      );
    }
    const id = await database.transact(async (tx) => {
      const made = await addMember(tx, project.id, { kind: username === undefined ? "group" : "user", name, role });
      if (made !== undefined) {
        await addAudit(tx, {
          actor: principal.name,
          operation: "create",
          project: project.name,
          resourceType: "member",
          resource: `${name} (${role})`,
        });
      }
      return made;
    });
    if (id === undefined) {
      throw new Problem(409, `${name} is a member already.`);
    }
    return reply
      .code(201)
      .header("location", `${request.url.split("?", 1)[0]}/${id}`)
      .send();
  });

  app.get(MEMBER, async (request) => {
    const { project } = await requireProject(context, request, "admin");
    return toMemberJson(project.id, await find(project.id, request));
  });

  app.put(MEMBER, { schema: { body: RoleChange } }, async (request) => {
    const { project, principal } = await requireProject(context, request, "admin");
    const member = await find(project.id, request);
    const role = parseRole((request.body as Static<typeof RoleChange>).role_id);
    await database.transact(async (tx) => {
      await setMemberRole(tx, member.id, role);
      await addAudit(tx, {
        actor: principal.name,
        operation: "update",
        project: project.name,
        resourceType: "member",
        resource: `${member.name} (${role})`,
      });
    });
    return {};
  });

  app.delete(MEMBER, async (request) => {
    const { project, principal } = await requireProject(context, request, "admin");
    const member = await find(project.id, request);
    await database.transact(async (tx) => {
      await removeMember(tx, member.id);
      await addAudit(tx, {
        actor: principal.name,
        operation: "delete",
        project: project.name,
        resourceType: "member",
        resource: member.name,
      });
    });
    return {};
  });
}

function toMemberJson(projectId: string, { id, kind, name, role }: Member) {
  return {
    id,
    project_id: Number(projectId),
    entity_name: name,
    entity_type: kind === "user" ? "u" : "g",
    ...toRoleJson(role),
  };
}
