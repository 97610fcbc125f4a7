import { type Peer, Problem } from "@swath/service";

export interface RegistryMember {
  readonly id: number;
  readonly name: string;
  readonly role: number;
}

/** The part of the image registry's REST API that workspaces need. */
export interface RegistryAdmin {
  readonly hasProject: (name: string) => Promise<boolean>;
  readonly createProject: (name: string) => Promise<void>;
  /** Deletes a project with everything in it. */
  readonly purgeProject: (name: string) => Promise<void>;
  readonly listMembers: (project: string) => Promise<readonly RegistryMember[]>;
  readonly addMember: (project: string, username: string, role: number) => Promise<void>;
  readonly setMemberRole: (project: string, id: number, role: number) => Promise<void>;
  readonly removeMember: (project: string, id: number) => Promise<void>;
  readonly hasRobot: (id: number) => Promise<boolean>;
  /** A robot that pulls, pushes and deletes in the project, for ever. One of the name that is there already is replaced. */
  readonly createRobot: (
    project: string,
    name: string,
  ) => Promise<{ readonly id: number; readonly name: string; readonly secret: string }>;
  readonly deleteRobot: (id: number) => Promise<void>;
}

interface RegistryAdminOptions {
  readonly peer: Peer;
  readonly password: string;
}

const PAGE = 100;

export function createRegistryAdmin({ peer, password }: RegistryAdminOptions): RegistryAdmin {
  const authorization = `Basic ${Buffer.from(`admin:${password}`).toString("base64")}`;
  const call = async <Body>(method: string, path: string, body?: object): Promise<Body | undefined> => {
    const response = await peer.fetch(`/api/v2.0${path}`, {
      method,
      timeout: 10_000,
      headers: {
        authorization,
        // Names that are all digits are names too.
        "x-is-resource-name": "true",
        ...(body && { "content-type": "application/json" }),
      },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (response.status === 404) {
      return undefined;
    }
    if (!response.ok) {
      throw new Problem(
        502,
        `the image registry answers ${response.status} to ${method} ${path}: ${text.slice(0, 500)}`,
      );
    }
    return (text === "" ? {} : JSON.parse(text)) as Body;
  };
  /** Every page of a listing. */
  const list = async <Row>(path: string): Promise<readonly Row[]> => {
    const rows: Row[] = [];
    for (let page = 1; ; page++) {
      const found = (await call<Row[]>("GET", `${path}?page_size=${PAGE}&page=${page}`)) ?? [];
      rows.push(...found);
      if (found.length < PAGE) {
        return rows;
      }
    }
  };
  const project = (name: string) => `/projects/${encodeURIComponent(name)}`;
  interface Project {
    readonly project_id: number;
  }

  return {
    hasProject: async (name) => (await call("GET", project(name))) !== undefined,
    createProject: async (name) => void (await call("POST", "/projects", { project_name: name })),
    purgeProject: async (name) => {
      for (const { name: repository } of await list<{ name: string }>(`${project(name)}/repositories`)) {
        await call("DELETE", `${project(name)}/repositories/${encodeURIComponent(repository.slice(name.length + 1))}`);
      }
      await call("DELETE", project(name));
    },
    listMembers: async (name) =>
      (
        await list<{ id: number; entity_name: string; entity_type: string; role_id: number }>(
          `${project(name)}/members`,
        )
      )
        .filter(({ entity_type: type }) => type === "u")
        .map((row) => ({ id: row.id, name: row.entity_name, role: row.role_id })),
    addMember: async (name, username, role) =>
      void (await call("POST", `${project(name)}/members`, { role_id: role, member_user: { username } })),
    setMemberRole: async (name, id, role) =>
      void (await call("PUT", `${project(name)}/members/${id}`, { role_id: role })),
    removeMember: async (name, id) => void (await call("DELETE", `${project(name)}/members/${id}`)),
    hasRobot: async (id) => (await call("GET", `/robots/${id}`)) !== undefined,
    createRobot: async (namespace, name) => {
      const found = await call<Project>("GET", project(namespace));
      const robots =
        (await call<{ id: number; name: string }[]>("GET", `/robots?q=Level=project,ProjectID=${found?.project_id}`)) ??
        [];
      for (const { id, name: fullName } of robots) {
        // Of an attempt that ended before it could keep the secret.
        if (fullName.endsWith(`+${name}`)) {
          await call("DELETE", `/robots/${id}`);
        }
      }
      const access = ["pull", "push", "delete"].map((action) => ({ resource: "repository", action }));
      const made = await call<{ id: number; name: string; secret: string }>("POST", "/robots", {
        name,
        level: "project",
        duration: -1,
        permissions: [{ kind: "project", namespace, access }],
      });
      if (made === undefined) {
        throw new Problem(502, `the image registry has no project ${namespace}`);
      }
      return made;
    },
    deleteRobot: async (id) => void (await call("DELETE", `/robots/${id}`)),
  };
}
