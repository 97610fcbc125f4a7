import {
  type Component,
  type ComponentResources,
  type DatabaseRole,
  type DeployContext,
  type PlatformSettings,
  type Workload,
  toBytes,
} from "@swath/manifest";

/** Version of PostgreSQL and, behind the plus, of what starts it here: raised when that changes so that a restart is worth it. */
export const POSTGRES_VERSION = "18.4+1";

const MIB = 2 ** 20;
/** The pod of a deployment that says nothing of it stays as it is. */
const DEFAULT_SHARED_BUFFERS = 128 * MIB;

/** Components without state in the database; a deployment of nothing else needs no PostgreSQL. */
const needsDatabase = ({ variables: v }: PlatformSettings): boolean =>
  v.REQUIRE_STORAGE ||
  v.REQUIRE_IDENTITY_SERVICE ||
  v.REQUIRE_LOGIN_SERVICE ||
  v.REQUIRE_ADES ||
  v.REQUIRE_RESOURCE_CATALOGUE ||
  v.REQUIRE_DATA_ACCESS ||
  v.REQUIRE_WORKSPACE_API ||
  v.REQUIRE_REGISTRY ||
  v.REQUIRE_APPLICATION_HUB;

export const manifest: Component = {
  name: "postgres",
  title: "PostgreSQL",
  namespace: "storage",
  enabled: needsDatabase,
  deploy: (context) => {
    const tasks = context.declared.databaseRoles.length === 0 ? [] : [makeRolesTask(context)];
    const server = context.settings.variables.DATABASE_URL === undefined ? deployServer(context) : { workloads: [] };
    return { ...server, workloads: [...server.workloads, ...tasks] };
  },
};

/** Makes the roles by which components log in. It runs again whenever there are others, or other passwords. */
function makeRolesTask({ declared: { databaseRoles } }: DeployContext): Workload {
  const variable = ({ schema }: DatabaseRole): string => `PASSWORD_${schema.toUpperCase()}`;
  return {
    name: "database-roles",
    namespace: "storage",
    component: "postgres",
    entry: "roles",
    kind: "task",
    env: {
      DATABASE_URL: { database: "url" },
      DATABASE_ROLES: JSON.stringify(
        databaseRoles.map((role) => ({ user: role.user, schema: role.schema, passwordEnv: variable(role) })),
      ),
      ...Object.fromEntries(databaseRoles.map((role) => [variable(role), role.password])),
    },
    resources: { requests: { cpu: "10m", memory: "64Mi" }, limits: { memory: "256Mi" } },
  };
}

function deployServer({ settings: { variant, variables } }: DeployContext): ComponentResources {
  const sharedBuffers = toBytes(variables.POSTGRES_SHARED_BUFFERS);
  return {
    volumes: [
      {
        name: "postgres",
        namespace: "storage",
        size: variables.POSTGRES_STORAGE_SIZE,
        storageClass: variables.POSTGRES_STORAGE,
        accessMode: variables.POSTGRES_STORAGE_ACCESS,
        backup: {
          kind: "program",
          component: "postgres",
          entry: "backup",
          env: { DATA_DIR: { volume: "postgres" }, DATABASE_URL: { database: "url" } },
        },
      },
    ],
    workloads: [
      {
        name: "postgres",
        namespace: "storage",
        component: "postgres",
        kind: "service",
        env: {
          DATA_DIR: { volume: "postgres" },
          POSTGRES_USER: "swath",
          POSTGRES_DATABASE: "swath",
          ...(sharedBuffers !== DEFAULT_SHARED_BUFFERS && {
            POSTGRES_SHARED_BUFFERS: `${Math.max(1, Math.floor(sharedBuffers / MIB))}MB`,
          }),
          POSTGRES_PASSWORD:
            variant === "A"
              ? variables.IDENTITY_POSTGRES_PASSWORD
              : { kind: "generated", name: "POSTGRES_PASSWORD", bytes: 24 },
        },
        // Changed by a statement (`swath credentials rotate`); the next start finds it changed.
        changedWhileRunning: ["POSTGRES_PASSWORD"],
        ports: [{ name: "postgres", number: 5432 }],
        mounts: [{ volume: "postgres", path: "/var/lib/swath/postgres" }],
        probe: "postgres",
        strategy: "recreate",
        account: "database",
        // A fast shutdown: ends sessions and writes a checkpoint. SIGTERM would wait for clients that never leave.
        stopSignal: "SIGINT",
        stopSeconds: 60,
        ...(variables.POSTGRES_IMAGE === undefined
          ? { keepImageOf: POSTGRES_VERSION }
          : { image: variables.POSTGRES_IMAGE }),
        resources: {
          requests: { cpu: "100m", memory: "256Mi" },
          limits: {
            memory: sharedBuffers > DEFAULT_SHARED_BUFFERS ? `${2048 + Math.ceil(sharedBuffers / MIB)}Mi` : "2Gi",
          },
        },
      },
    ],
  };
}
