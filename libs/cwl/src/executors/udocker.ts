import { CwlError } from "../errors.ts";
import { createDaemonlessExecutor, refuseOtherImages } from "./daemonless.ts";
import { EngineCommand } from "./engine-command.ts";
import type { ContainerRequest, Executor, JobSpec } from "./executor.ts";

export interface UdockerOptions {
  /** Path of udocker, or of a program that takes the same commands. */
  readonly command: string;
  readonly env: { readonly [name: string]: string | undefined };
  readonly runOptions?: readonly string[] | undefined;
  readonly pull?: boolean | undefined;
}

/**
 * Runs tools in containers of udocker, which are ordinary processes that see another root. It isolates nothing: inputs can be
 * written, and the network is there.
 */
export function createUdockerExecutor(options: UdockerOptions): Executor {
  const engine = new EngineCommand(options.command, options.env);
  return createDaemonlessExecutor({
    kind: "udocker",
    environment: engine.environment,
    provideImage: (request, signal) => provideImage(request, signal, options, engine),
    commandOf: (job, _request, image) => ({ command: commandOf(job, image, options) }),
  });
}

async function provideImage(
  request: ContainerRequest,
  signal: AbortSignal,
  options: UdockerOptions,
  engine: EngineCommand,
): Promise<string> {
  refuseOtherImages(request, "udocker", ["load", "import", "dockerfile"]);
  const tagged = (name: string): string => (/[:@][^/]*$/.test(name) ? name : `${name}:latest`);
  for (const name of [request.image, request.pull ?? request.image]) {
    if (await engine.succeeds(["inspect", tagged(name)], signal)) {
      return tagged(name);
    }
  }
  const name = tagged(request.pull ?? request.image);
  if (options.pull === false) {
    throw new CwlError("unsupported", `udocker does not have the image ${name}, and pulling is switched off`);
  }
  await engine.run(["--quiet", "pull", name], signal, `cannot pull the image ${name}`);
  return name;
}

function commandOf(job: JobSpec, image: string, options: UdockerOptions): string[] {
  const mounts = job.mounts.toSorted((a, b) => a.target.length - b.target.length);
  const volumes = [
    { source: job.outdir.host, target: job.outdir.seen },
    { source: job.tmpdir.host, target: job.tmpdir.seen },
    ...mounts,
  ];
  const colon = volumes.flatMap(({ source, target }) => [source, target]).find((path) => path.includes(":"));
  if (colon !== undefined) {
    throw new CwlError("unsupported", `udocker cannot mount ${colon}: its paths have no colons`);
  }
  return [
    options.command,
    "--quiet",
    "run",
    "--rm",
    "--nobanner",
    ...(options.runOptions ?? []),
    ...volumes.map(({ source, target }) => `--volume=${source}:${target}`),
    `--workdir=${job.outdir.seen}`,
    ...Object.entries(job.environment).map(([name, value]) => `--env=${name}=${value}`),
    image,
    ...job.command,
  ];
}
