import { findProgram } from "@swath/isolation";
import { execFile } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";

import type { Profile } from "../profiles/model.ts";
import { overrideOf } from "../profiles/quantities.ts";
import type { HubFolders } from "./folders.ts";
import type { Handle, Launch, Spawner, Unavailable } from "./spawner.ts";

const run = promisify(execFile);
const COMMAND_MS = 120_000;
const PULL_MS = 15 * 60_000;
const DEFAULT_PORT = 8888;
const HOME = "/home/jovyan";

interface ContainerOptions {
  readonly folders: HubFolders;
  /** auto, none, podman, docker, or the path of one. */
  readonly engine: string;
}

/** Servers as containers of podman or docker: images of profiles where the platform is one machine. */
export function createContainerSpawner({ folders, engine }: ContainerOptions): Spawner {
  const command = engine === "none" ? undefined : findProgram(engine === "auto" ? ["podman", "docker"] : [engine]);
  const call = async (args: readonly string[], timeout = COMMAND_MS): Promise<string> => {
    if (command === undefined) {
      throw new Error("there is no container engine");
    }
    const { stdout } = await run(command, [...args], { timeout, maxBuffer: 4 * 2 ** 20, cwd: "/" });
    return stdout.trim();
  };
  const nameOf = (handle: Handle) => `swath-hub-${String(handle["id"])}`;

  const whyNot = async (profile: Profile): Promise<Unavailable | undefined> => {
    const image = overrideOf(profile, {}).image;
    if (image === undefined || image === null || image === "") {
      return { reason: "the profile names neither a program nor an image (kubespawner_override.image)" };
    }
    return command === undefined
      ? { reason: "it is a container, and there is no container engine", command: "apt-get install podman" }
      : undefined;
  };

  return {
    whyNot,
    plan: ({ id }) => ({ kind: "container", id }),
    start: async (launch, handle, onEvent) => {
      const image = overrideOf(launch.profile, launch.options).image ?? "";
      const port =
        launch.profile.embedded?.kind === "container" ? (launch.profile.embedded.port ?? DEFAULT_PORT) : DEFAULT_PORT;
      await call(["rm", "--force", nameOf(handle)]).catch(() => {});
      if ((await call(["image", "inspect", "--format", "{{.Id}}", image]).catch(() => "")) === "") {
        onEvent(`pulling ${image}`);
        await call(["pull", "--quiet", image], PULL_MS);
      }
      const folder = folders.serverOf(launch.id);
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      // Secrets go by a file that only the engine's user reads: arguments can be read by every user of the machine.
      const file = join(folder, "env");
      writeFileSync(file, toEnvFile(launch, port), { mode: 0o600 });
      const home = folders.homeOf(launch.user);
      mkdirSync(home, { recursive: true, mode: 0o700 });
      const own = launch.profile.embedded?.kind === "container" ? (launch.profile.embedded.command ?? []) : [];
      try {
        await call(
          [
            "run",
            "--detach",
            ["--name", nameOf(handle), "--env-file", file, "--volume", `${home}:${HOME}`, "--workdir", HOME],
            ["--publish", `127.0.0.1::${port}`, "--cpus", String(launch.size.cores)],
            ["--memory", String(launch.size.memoryBytes), "--pids-limit", "4096"],
            ["--cap-drop", "all", "--security-opt", "no-new-privileges"],
            launch.profile.egress === "none" ? ["--dns", "none"] : [],
            image,
            ...own.map((part) => part.replaceAll("{port}", String(port)).replaceAll("{base}", launch.base)),
          ].flat(),
        );
      } finally {
        rmSync(file, { force: true });
      }
      onEvent(`${image} was started`);
      const published = await call(["port", nameOf(handle), `${port}/tcp`]);
      const [, hostPort = ""] = /:(\d+)\s*$/m.exec(published) ?? [];
      const readyPath =
        launch.profile.embedded?.kind === "container" ? (launch.profile.embedded.ready_path ?? "") : "api";
      return { handle, target: { url: `http://127.0.0.1:${hostPort}` }, readyPath: `${launch.base}${readyPath}` };
    },
    poll: async (handle) => {
      const state = await call([
        "inspect",
        "--format",
        "{{.State.Status}} {{.State.ExitCode}} {{.State.OOMKilled}}",
        nameOf(handle),
      ]).catch(() => "");
      const [status, code, oom] = state.split(" ");
      if (status === "running" || status === "created") {
        return { alive: true };
      }
      if (oom === "true") {
        return { alive: false, reason: "It used more memory than it may; start a larger one." };
      }
      return {
        alive: false,
        reason: status === "" || status === undefined ? "Its container is gone." : `It ended with status ${code}.`,
      };
    },
    stop: async (handle) => {
      await call(["stop", "--time", "5", nameOf(handle)]).catch(() => {});
      await call(["rm", "--force", nameOf(handle)]).catch(() => {});
    },
    usage: async () => undefined,
    log: async (handle) => call(["logs", "--tail", "200", nameOf(handle)]).catch(() => ""),
  };
}

function toEnvFile({ env, base, user }: Launch, port: number): string {
  const all: Record<string, string> = {
    ...env,
    HOME,
    USER: user,
    JUPYTERHUB_SERVICE_URL: `http://0.0.0.0:${port}${base}`,
    // On Kubernetes and here alike, the hub is reached by its public address.
    JUPYTERHUB_API_URL: `${env["JUPYTERHUB_HOST"]}/hub/api`,
    JUPYTERHUB_ACTIVITY_URL: `${env["JUPYTERHUB_HOST"]}/hub/api/users/${encodeURIComponent(user)}/activity`,
    AWS_CONTAINER_CREDENTIALS_FULL_URI: `${env["JUPYTERHUB_HOST"]}/hub/api/swath/s3-credentials`,
  };
  return Object.entries(all)
    .flatMap(([name, value]) => (/[\n\r]/.test(value) ? [] : [`${name}=${value}\n`]))
    .join("");
}
