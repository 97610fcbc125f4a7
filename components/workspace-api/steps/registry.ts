import { WORKSPACE_LABEL } from "@swath/kubernetes";
import type { ClusterApi } from "@swath/kubernetes/api";

import type { RegistryAdmin } from "../clients/registry-admin.ts";
import type { Role } from "../store/tables.ts";
import { isAsWanted, namespacePath } from "./namespace-objects.ts";
import type { Step } from "./step.ts";

/** What the step keeps; flat enough to be stored as JSON. */
export interface RegistryOutputs {
  /** `registry.example.org` */
  readonly host: string;
  readonly project: string;
  readonly robot?: { readonly id: number; readonly name: string; readonly secret: string };
  /** Users whom the step made members: others are the project's own. */
  readonly members: readonly string[];
}

interface RegistryStepOptions {
  readonly registry: RegistryAdmin;
  /** Public host of the registry, as image references begin. */
  readonly host: string;
  /** Where the workspace has a namespace, its pods pull with the robot account. */
  readonly cluster: ClusterApi | undefined;
}

const ROBOT = "workspace";
const SECRET = "container-registry";
const MANAGER = "workspace-reconciler";
/** Numbers of the registry's roles. */
const ROLES: Readonly<Record<Role, number>> = { owner: 1, writer: 2, reader: 3 };

/**
 * A project of the workspace's name in the image registry, with its members, and a robot account that programs of the workspace push
 * and pull with; on a cluster as the Secret `container-registry` of the namespace, which is also a pull secret.
 */
export function createRegistryStep({ registry, host, cluster }: RegistryStepOptions): Step {
  return {
    name: "registry",
    title: "Image registry",
    apply: async ({ workspace, outputs: before, wasDone, save }) => {
      const { name } = workspace;
      const repaired: string[] = [];
      let outputs: RegistryOutputs = {
        members: [],
        ...(before as Partial<RegistryOutputs> | null),
        host,
        project: name,
      };
      const keep = async (change: Partial<RegistryOutputs>) => {
        outputs = { ...outputs, ...change };
        await save({ ...outputs });
      };
      if (!(await registry.hasProject(name))) {
        await registry.createProject(name);
        if (wasDone) {
          repaired.push(`the image project ${name} was gone; it was made again`);
        }
      }
      await keep({ members: await syncMembers(registry, name, workspace.members, outputs.members) });
      let { robot } = outputs;
      if (robot === undefined || !(await registry.hasRobot(robot.id))) {
        if (wasDone && robot !== undefined) {
          repaired.push(`the robot account of the image project ${name} was gone; there is a new one`);
        }
        const { id, name: fullName, secret } = await registry.createRobot(name, ROBOT);
        robot = { id, name: fullName, secret };
        await keep({ robot });
      }
      if (cluster !== undefined) {
        const path = `${namespacePath(name)}/secrets/${SECRET}`;
        const requested = createPullSecret(name, host, robot);
        if (!isAsWanted(await cluster.get<object>(path), requested)) {
          await cluster.apply(path, requested, MANAGER);
        }
      }
      return repaired;
    },
    remove: async ({ workspace: { name, data }, outputs }) => {
      const { robot } = (outputs ?? {}) as Partial<RegistryOutputs>;
      if (robot !== undefined) {
        await registry.deleteRobot(robot.id);
      }
      if (data === "purge" && (await registry.hasProject(name))) {
        await registry.purgeProject(name);
      }
    },
  };
}

/** Gives members of the workspace their role, and takes it from those who left it; whom the project has besides stay. */
async function syncMembers(
  registry: RegistryAdmin,
  project: string,
  members: readonly { readonly username: string; readonly role: Role }[],
  made: readonly string[],
): Promise<readonly string[]> {
  const current = new Map((await registry.listMembers(project)).map((member) => [member.name, member]));
  for (const { username, role } of members) {
    const member = current.get(username);
    if (member === undefined) {
      await registry.addMember(project, username, ROLES[role]);
    } else if (member.role !== ROLES[role]) {
      await registry.setMemberRole(project, member.id, ROLES[role]);
    }
  }
  const names = members.map(({ username }) => username);
  for (const username of made) {
    const left = names.includes(username) ? undefined : current.get(username);
    if (left !== undefined) {
      await registry.removeMember(project, left.id);
    }
  }
  return names;
}

/** Both what programs of existing workspaces read and what `imagePullSecrets` takes. */
function createPullSecret(workspace: string, host: string, { name, secret }: { name: string; secret: string }) {
  const encode = (text: string) => Buffer.from(text, "utf8").toString("base64");
  const auths = { [host]: { username: name, password: secret, auth: encode(`${name}:${secret}`) } };
  return {
    apiVersion: "v1",
    kind: "Secret",
    type: "kubernetes.io/dockerconfigjson",
    metadata: {
      name: SECRET,
      namespace: workspace,
      labels: {
        "app.kubernetes.io/part-of": "swath",
        "app.kubernetes.io/managed-by": "swath-workspaces",
        [WORKSPACE_LABEL]: workspace,
      },
    },
    data: { username: encode(name), password: encode(secret), ".dockerconfigjson": encode(JSON.stringify({ auths })) },
  };
}
