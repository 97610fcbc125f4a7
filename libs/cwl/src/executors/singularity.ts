import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { CwlError } from "../errors.ts";
import { checksumOf } from "../files/checksum.ts";
import { createDaemonlessExecutor, refuseOtherImages } from "./daemonless.ts";
import { csvField } from "./csv-field.ts";
import { EngineCommand } from "./engine-command.ts";
import type { ContainerRequest, Executor, JobSpec } from "./executor.ts";
import { findLogin } from "./registry-login.ts";

export interface SingularityOptions {
  /** Path of singularity (3.10 or newer) or apptainer. */
  readonly command: string;
  readonly env: { readonly [name: string]: string | undefined };
  /** Where images are kept; those that others have put there under the same names are used. */
  readonly imageDir: string;
  readonly runOptions?: readonly string[] | undefined;
  /** Registry credentials: containers-auth.json, or docker's config.json. */
  readonly authFile?: string | undefined;
  readonly pull?: boolean | undefined;
  readonly strictCpus?: boolean | undefined;
}

/** Runs tools in containers of Singularity or Apptainer. */
export function createSingularityExecutor(options: SingularityOptions): Executor {
  const engine = new EngineCommand(options.command, options.env);
  return createDaemonlessExecutor({
    kind: "singularity",
    environment: engine.environment,
    provideImage: (request, signal) => provideImage(request, signal, options, engine),
    commandOf: (job, request, image) => ({
      command: commandOf(job, request, image, options),
      environment: variablesOf(job, options.command),
    }),
  });
}

async function provideImage(
  request: ContainerRequest,
  signal: AbortSignal,
  options: SingularityOptions,
  engine: EngineCommand,
): Promise<string> {
  const { imageDir, pull } = options;
  refuseOtherImages(request, "singularity", ["import", "dockerfile"]);
  mkdirSync(imageDir, { recursive: true });
  if (request.load !== undefined) {
    const target = join(imageDir, `load-${(await checksumOf(request.load)).replace("sha1$", "")}.sif`);
    return await make(target, ["build"], `docker-archive://${request.load}`, `cannot load the image ${request.load}`, {
      engine,
      signal,
    });
  }
  for (const name of [request.image, request.pull ?? ""]) {
    const found = candidates(name)
      .map((file) => join(imageDir, file))
      .find((path) => existsSync(path));
    if (name !== "" && found !== undefined) {
      return found;
    }
  }
  const name = request.pull ?? request.image;
  if (pull === false) {
    throw new CwlError("unsupported", `the image ${name} is not in ${imageDir}, and pulling is switched off`);
  }
  const source = /^[a-z-]+:\/\//.test(name) ? name : `docker://${name}`;
  return await make(join(imageDir, `${fileNameOf(name)}.sif`), ["pull"], source, `cannot pull the image ${name}`, {
    engine: loggedIn(options, name) ?? engine,
    signal,
  });
}

/** The engine with the login for an image among its variables, which every version reads; none of them is an argument. */
function loggedIn({ authFile, command, env }: SingularityOptions, image: string): EngineCommand | undefined {
  const login = authFile === undefined ? undefined : findLogin(authFile, image);
  if (login === undefined) {
    return undefined;
  }
  const prefix = variablePrefix(command);
  return new EngineCommand(command, {
    ...env,
    [`${prefix}_DOCKER_USERNAME`]: login.username,
    [`${prefix}_DOCKER_PASSWORD`]: login.password,
  });
}

/** Makes an image under another name first, so that a file with its own name is whole. */
async function make(
  target: string,
  command: readonly string[],
  source: string,
  what: string,
  { engine, signal }: { readonly engine: EngineCommand; readonly signal: AbortSignal },
): Promise<string> {
  if (existsSync(target)) {
    return target;
  }
  const part = `${target}.${process.pid}.part`;
  try {
    await engine.run([...command, "--force", part, source], signal, what);
    renameSync(part, target);
  } finally {
    rmSync(part, { recursive: true, force: true });
  }
  return target;
}

/** Names of an image's file, as this engine, cwltool and `singularity pull` write them. */
function candidates(name: string): string[] {
  const plain = fileNameOf(name);
  const short = fileNameOf(name.replace(/^(?:docker:\/\/)?(?:docker\.io\/)?(?:library\/)?/, ""));
  const pulled = basename(name).replace(":", "_");
  return [plain, short, pulled]
    .flatMap((item) => [`${item}.sif`, `${item}.img`, item])
    .filter((item) => item !== "." && item !== "..");
}

/** An image's name as the name of one file: no directory is named by it. */
function fileNameOf(name: string): string {
  return name
    .replace(/^[a-z-]+:\/\//, "")
    .replaceAll("/", "_")
    .replace(/^\.+/, "_");
}

function commandOf(job: JobSpec, request: ContainerRequest, image: string, options: SingularityOptions): string[] {
  const mount = (source: string, target: string, writable: boolean): string =>
    `--mount=type=bind,${csvField(`source=${source}`)},${csvField(`destination=${target}`)}${writable ? "" : ",ro"}`;
  return [
    options.command,
    "--quiet",
    "exec",
    "--contain",
    "--ipc",
    "--pid",
    "--cleanenv",
    "--no-eval",
    "--no-privs",
    ...(job.network ? [] : ["--net", "--network=none"]),
    ...(request.gpus > 0 ? ["--nv"] : []),
    ...(options.strictCpus === true ? [`--cpus=${job.cores}`] : []),
    ...(options.runOptions ?? []),
    `--home=${job.outdir.host}:${job.outdir.seen}`,
    `--pwd=${job.outdir.seen}`,
    mount(job.tmpdir.host, job.tmpdir.seen, true),
    // Outer mounts first, so that inner ones lie on top.
    ...job.mounts
      .toSorted((a, b) => a.target.length - b.target.length)
      .map((item) => mount(item.source, item.target, item.writable)),
    image,
    ...job.command,
  ];
}

/** Variables of the tool go through those of the engine: its command line can be seen by every user of the machine. */
function variablesOf(job: JobSpec, command: string): Record<string, string> {
  const prefix = `${variablePrefix(command)}ENV_`;
  return Object.fromEntries(
    Object.entries(job.environment)
      .filter(([name]) => name !== "HOME")
      .map(([name, value]) => [`${prefix}${name}`, value]),
  );
}

function variablePrefix(command: string): string {
  return basename(command).includes("apptainer") ? "APPTAINER" : "SINGULARITY";
}
