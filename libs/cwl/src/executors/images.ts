import { createHash } from "node:crypto";
import { copyFileSync, createReadStream, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { CwlError } from "../errors.ts";
import type { ContainerOptions } from "./container.ts";
import type { EngineCommand } from "./engine-command.ts";
import type { ContainerRequest } from "./executor.ts";

/** Where images lie that this engine makes. Documents cannot name one of them. */
const REPOSITORY = "localhost/swath-cwl";

const MAX_DOCKERFILE_BYTES = 1024 * 1024;
const DEFAULT_BUILD_SECONDS = 1800;
const DEFAULT_BUILD_MIB = 4096;

/** Finds, pulls, loads or builds the images of tools. One pull or build an image, however many jobs ask for it. */
export class Images {
  private readonly options: ContainerOptions;
  private readonly engine: EngineCommand;
  private readonly known = new Map<string, Promise<string>>();

  constructor(options: ContainerOptions, engine: EngineCommand) {
    this.options = options;
    this.engine = engine;
  }

  /** Name of the image that a request asks for, which is there when this resolves. */
  get(request: ContainerRequest, signal: AbortSignal): Promise<string> {
    const key = JSON.stringify([request.image, request.pull, request.load, request.import, request.dockerfile]);
    let image = this.known.get(key);
    if (image === undefined) {
      image = this.provide(request, signal);
      this.known.set(key, image);
      // A failure is not remembered: the next job may find the registry back.
      image.catch(() => this.known.delete(key));
    }
    return image;
  }

  private async provide(request: ContainerRequest, signal: AbortSignal): Promise<string> {
    if (request.dockerfile !== undefined) {
      return await this.build(request.dockerfile, signal);
    }
    if (request.load !== undefined) {
      return await this.load(request.load, signal);
    }
    if (request.import !== undefined) {
      const name = this.nameOf("import", await digestOf(request.import));
      if (!(await this.exists(name, signal))) {
        await this.engine.run(["import", request.import, name], signal, `cannot import the image ${request.import}`);
      }
      return name;
    }
    const { image, pull } = request;
    for (const name of [image, pull]) {
      if (name?.startsWith(`${REPOSITORY}/`) === true) {
        throw new CwlError("unsafe", `${name} is the name of an image that was built for another tool`);
      }
    }
    if (await this.exists(image, signal)) {
      return image;
    }
    // dockerImageId names an image of this machine; dockerPull says where to get it.
    const name = pull ?? image;
    if (name !== image && (await this.exists(name, signal))) {
      return name;
    }
    if (this.options.pull === false) {
      throw new CwlError("unsupported", `the image ${name} is not on this machine, and pulling is switched off`);
    }
    await this.pull(name, signal);
    return name;
  }

  /** Two Dockerfiles that differ make two images, whatever their tools call them. */
  private async build(dockerfile: string, signal: AbortSignal): Promise<string> {
    const { builds = {} } = this.options;
    if (builds.allowed === false) {
      throw new CwlError(
        "unsupported",
        "a DockerRequirement with a dockerFile: images are not built here; use dockerPull",
      );
    }
    if (Buffer.byteLength(dockerfile) > MAX_DOCKERFILE_BYTES) {
      throw new CwlError("limit", `the dockerFile has more than ${MAX_DOCKERFILE_BYTES} bytes`);
    }
    const name = this.nameOf("build", createHash("sha256").update(dockerfile).digest("hex"));
    if (await this.exists(name, signal)) {
      return name;
    }
    const folder = mkdtempSync(join(tmpdir(), "cwl-image-"));
    try {
      writeFileSync(join(folder, "Dockerfile"), dockerfile);
      const memoryMiB = builds.memoryMiB ?? DEFAULT_BUILD_MIB;
      const options = [
        "--tag",
        name,
        ...(this.options.kind === "docker" ? [`--memory=${memoryMiB}m`] : []),
        ...(builds.network === undefined ? [] : [`--network=${builds.network}`]),
        ...(builds.options ?? []),
      ];
      await this.engine.run(["build", ...options, folder], signal, `cannot build the image of a dockerFile`, {
        seconds: builds.seconds ?? DEFAULT_BUILD_SECONDS,
        memoryMiB,
      });
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
    return name;
  }

  private async load(file: string, signal: AbortSignal): Promise<string> {
    const name = this.nameOf("load", await digestOf(file));
    if (await this.exists(name, signal)) {
      return name;
    }
    const said = await this.engine.run(["load", "--input", file], signal, `cannot load the image ${file}`);
    const [, loaded] = /Loaded image(?: ID)?(?:\(s\))?:\s*(\S+)/.exec(said) ?? [];
    if (loaded === undefined) {
      throw new CwlError("infrastructure", `cannot load the image ${file}: ${said.trim()}`);
    }
    await this.engine.run(["tag", loaded, name], signal, `cannot name the image ${loaded}`);
    return name;
  }

  private nameOf(kind: "build" | "load" | "import", digest: string): string {
    const scope = this.options.imageScope ?? `user-${process.getuid?.() ?? 0}`;
    // A scope can be anything that tells users apart, such as an e-mail address.
    const plain = /^[a-z0-9]+(?:[._-][a-z0-9]+)*$/.test(scope)
      ? scope
      : createHash("sha256").update(scope).digest("hex");
    return `${REPOSITORY}/${plain}:${kind}-${digest}`;
  }

  private exists(name: string, signal: AbortSignal): Promise<boolean> {
    return this.engine.succeeds(["image", "inspect", name], signal);
  }

  private async pull(name: string, signal: AbortSignal): Promise<void> {
    const { authFile, kind } = this.options;
    const what = `cannot pull the image ${name}`;
    // The name that podman and buildah give to what was built on this machine: no registry answers to it, and asking takes seconds.
    if (name.startsWith("localhost/")) {
      throw new CwlError(
        "unsupported",
        `the image ${name} is not on this machine, where images called localhost/… are built; build it, or name a registry`,
      );
    }
    if (authFile === undefined) {
      await this.engine.run(["pull", "--quiet", name], signal, what);
    } else if (kind === "podman") {
      await this.engine.run(["pull", "--quiet", `--authfile=${authFile}`, name], signal, what);
    } else {
      // docker knows no such option; it reads the same file by a fixed name in a directory.
      const folder = mkdtempSync(join(tmpdir(), "cwl-docker-"));
      try {
        copyFileSync(authFile, join(folder, "config.json"));
        await this.engine.run(["--config", folder, "pull", "--quiet", name], signal, what);
      } finally {
        rmSync(folder, { recursive: true, force: true });
      }
    }
  }
}

async function digestOf(path: string): Promise<string> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(path), hash);
  return hash.digest("hex");
}
