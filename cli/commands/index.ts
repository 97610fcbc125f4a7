import type { Command } from "./command.ts";

interface CommandEntry {
  readonly name: string;
  readonly summary: string;
  /** Loaded only when used, so that no command pays for another's imports. */
  readonly load: () => Promise<Command>;
}

interface CommandGroup {
  readonly title: string;
  readonly commands: readonly CommandEntry[];
}

/** Every word after `swath`, in the order that `swath help` shows. */
export const commandGroups: readonly CommandGroup[] = [
  {
    title: "Use a platform",
    commands: [
      {
        name: "login",
        summary: "log in to a platform, with a browser anywhere",
        load: async () => (await import("./use/login.ts")).loginCommand,
      },
      {
        name: "logout",
        summary: "end a login and forget it",
        load: async () => (await import("./use/logout.ts")).logoutCommand,
      },
      {
        name: "token",
        summary: "print an access token, for curl and other programs",
        load: async () => (await import("./use/token.ts")).tokenCommand,
      },
      {
        name: "search",
        summary: "find scenes and results in a platform's catalogue",
        load: async () => (await import("./use/search.ts")).searchCommand,
      },
      {
        name: "run",
        summary: "run a process or an application package on a platform",
        load: async () => (await import("./use/run.ts")).runCommand,
      },
      {
        name: "jobs",
        summary: "list jobs on a platform, show, read or end one",
        load: async () => (await import("./use/jobs.ts")).jobsCommand,
      },
      {
        name: "results",
        summary: "list or download what a job gave",
        load: async () => (await import("./use/results.ts")).resultsCommand,
      },
      {
        name: "cp",
        summary: "copy files to and from a workspace's bucket",
        load: async () => (await import("./use/cp.ts")).cpCommand,
      },
      {
        name: "map",
        summary: "draw a scene or result, in the terminal or into a file",
        load: async () => (await import("./use/map.ts")).mapCommand,
      },
      {
        name: "share",
        summary: "let others read or write in a workspace, or list who may",
        load: async () => (await import("./use/share.ts")).shareCommand,
      },
      {
        name: "build",
        summary:
          "build an image of a folder without a builder, and push it to your workspace's project in the registry",
        load: async () => (await import("./use/build.ts")).buildCommand,
      },
      {
        name: "push",
        summary: "push an application package to your workspace's project in the registry",
        load: async () => (await import("./use/push.ts")).pushCommand,
      },
      {
        name: "notebook",
        summary: "start a notebook server and print its address",
        load: async () => (await import("./use/notebook.ts")).notebookCommand,
      },
      {
        name: "harvest",
        summary: "list and run harvesters, see to what could not be registered",
        load: async () => (await import("./use/harvest.ts")).harvestCommand,
      },
      {
        name: "cwl",
        summary: "run, validate, pack and draw CWL documents",
        load: async () => (await import("./use/cwl.ts")).cwlCommand,
      },
    ],
  },
  {
    title: "Deploy",
    commands: [
      {
        name: "deploy",
        summary: "make, remove or print the deployment (what deploy/swath/swath.sh calls)",
        load: async () => (await import("./deployment/deploy.ts")).deployCommand,
      },
      {
        name: "doctor",
        summary: "check this machine for what apply would need",
        load: async () => (await import("./deployment/doctor.ts")).doctorCommand,
      },
      {
        name: "certificates",
        summary: "list the certificates of the hosts, when they end and what is in the way",
        load: async () => (await import("./deployment/certificates.ts")).certificatesCommand,
      },
      {
        name: "service",
        summary: "start the deployment with the machine (systemd)",
        load: async () => (await import("./deployment/service.ts")).serviceCommand,
      },
      {
        name: "backup",
        summary: "write the whole deployment into one file while it runs",
        load: async () => (await import("./deployment/backup.ts")).backupCommand,
      },
      {
        name: "restore",
        summary: "make a deployment from a backup file",
        load: async () => (await import("./deployment/restore.ts")).restoreCommand,
      },
      {
        name: "rollback",
        summary: "go back to the version that was applied before",
        load: async () => (await import("./deployment/rollback.ts")).rollbackCommand,
      },
      {
        name: "migrate",
        summary: "move a deployment of variant B to variant A",
        load: async () => (await import("./deployment/migrate.ts")).migrateCommand,
      },
      {
        name: "hosts",
        summary: "print, write or remove /etc/hosts lines for programs that cannot resolve the domain",
        load: async () => (await import("./deployment/hosts.ts")).hostsCommand,
      },
      {
        name: "cluster",
        summary: "list or delete clusters",
        load: async () => (await import("./deployment/cluster.ts")).clusterCommand,
      },
      {
        name: "clean",
        summary: "remove persistent artefacts (what deploy/cluster/clean calls)",
        load: async () => (await import("./deployment/clean.ts")).cleanCommand,
      },
      {
        name: "config",
        summary: "show the resolved configuration and where each value comes from",
        load: async () => (await import("./deployment/config.ts")).configCommand,
      },
    ],
  },
  {
    title: "Operate",
    commands: [
      {
        name: "pods",
        summary: "list pods and their states; -w keeps watching",
        load: async () => (await import("./operation/pods.ts")).podsCommand,
      },
      {
        name: "logs",
        summary: "print a pod's log; -f follows it",
        load: async () => (await import("./operation/logs.ts")).logsCommand,
      },
      {
        name: "metrics",
        summary: "print what the pods measure, as Prometheus text",
        load: async () => (await import("./operation/metrics.ts")).metricsCommand,
      },
      {
        name: "urls",
        summary: "list the addresses of all services",
        load: async () => (await import("./operation/urls.ts")).urlsCommand,
      },
      {
        name: "credentials",
        summary: "show users and passwords of the deployment, or change them",
        load: async () => (await import("./operation/credentials.ts")).credentialsCommand,
      },
      {
        name: "audit",
        summary: "search, verify or export the record of who did what",
        load: async () => (await import("./operation/audit.ts")).auditCommand,
      },
      {
        name: "restart",
        summary: "restart a pod",
        load: async () => (await import("./operation/restart.ts")).restartCommand,
      },
      {
        name: "stop",
        summary: "stop all pods, keep the deployment",
        load: async () => (await import("./operation/stop.ts")).stopCommand,
      },
      {
        name: "start",
        summary: "start what was stopped or killed",
        load: async () => (await import("./operation/start.ts")).startCommand,
      },
      {
        name: "data-access",
        summary: "make tiles of a layer before somebody asks for them, or remove kept ones",
        load: async () => (await import("./operation/data-access.ts")).dataAccessCommand,
      },
      {
        name: "objstore",
        summary: "mend the object store's index, or copy buckets to another S3 service",
        load: async () => (await import("./operation/objstore.ts")).objstoreCommand,
      },
      {
        name: "registry",
        summary: "push application packages, export and import images",
        load: async () => (await import("./operation/registry.ts")).registryCommand,
      },
      {
        name: "forward",
        summary: "reach a deployment on Kubernetes without its ingress",
        load: async () => (await import("./operation/forward.ts")).forwardCommand,
      },
    ],
  },
  {
    title: "This program",
    commands: [
      { name: "help", summary: "show this list", load: async () => (await import("./help.ts")).helpCommand },
      {
        name: "version",
        summary: "print the version",
        load: async () => (await import("./version.ts")).versionCommand,
      },
    ],
  },
];

export const commands: readonly CommandEntry[] = commandGroups.flatMap((group) => group.commands);

export function findCommand(name: string): CommandEntry | undefined {
  return commands.find((command) => command.name === name.replace(/^--(?=help|version)/, ""));
}

/** The command that was probably meant. */
export async function suggestCommand(name: string): Promise<string | undefined> {
  if (name === "") {
    return undefined;
  }
  const { closest } = await import("fastest-levenshtein");
  return closest(
    name,
    commands.map((command) => command.name),
  );
}
