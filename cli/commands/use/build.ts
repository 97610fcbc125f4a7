import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";

import {
  type BaseImage,
  ContainerfileError,
  RegistryRefusal,
  buildImage,
  createRegistryWriter,
  locate,
  parseContainerfile,
  parseReference,
} from "@swath/oci";

import { type RegistryProject, openProject } from "../../client/registry-project.ts";
import { PLATFORM_HELP, openSession, platformOption } from "../../client/session.ts";
import { CommandError, type Command } from "../command.ts";

const USAGE = `
Usage: swath build [DIR] -t NAME[:TAG] [-f FILE]

Builds an image of a folder and pushes it to your workspace's project in the platform's registry; prints the reference that packages name it
by (dockerPull). Nothing is run, so that no rights and no builder are needed: the image is a base image with files and settings more.

The Containerfile (or Dockerfile) has one stage of FROM, COPY, ENV, LABEL, WORKDIR, USER, ENTRYPOINT, CMD, EXPOSE, ARG. FROM is scratch, an
image of the platform's registry (NAME:TAG of your own project, or with the registry's host), or of another registry that is reached from
here. .containerignore or .dockerignore leaves files out.

  -t, --tag NAME[:TAG]        what the image is called in your project; without a tag latest
  -f, --file FILE             the Containerfile; default: that of the folder
  --build-arg NAME=VALUE      the value of an ARG; may be given several times
  --workspace NAME            another workspace in which you may write
${PLATFORM_HELP}`;

const FILES = ["Containerfile", "Dockerfile"];

export const buildCommand: Command = {
  name: "build",
  summary: "build an image of a folder without a builder, and push it to your workspace's project in the registry",
  usage: USAGE,
  run: async ({ args, env, stdout, stderr }) => {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        tag: { type: "string", short: "t" },
        file: { type: "string", short: "f" },
        "build-arg": { type: "string", multiple: true, default: [] },
        workspace: { type: "string" },
        ...platformOption,
      },
    });
    const [folder = ".", more] = positionals;
    if (values.tag === undefined || more !== undefined) {
      throw new CommandError(`what is the image called?\n${USAGE}`, 2);
    }
    if (!(await stat(folder).catch(() => undefined))?.isDirectory()) {
      throw new CommandError(`${folder} is not a folder`);
    }
    const path = values.file ?? (await findFile(folder));
    const text = await readFile(path, "utf8").catch((error: unknown) => {
      throw new CommandError(`${path} cannot be read (${(error as Error).message})`);
    });
    const provided = new Map(values["build-arg"].map(readArgument));
    try {
      // What is wrong with the file needs no login to be seen.
      const file = parseContainerfile(text);
      const session = await openSession(env, values.platform);
      const project = await openProject(session, { workspace: values.workspace, name: values.tag });
      try {
        const digest = await buildImage({
          file,
          folder,
          base: findBase(file.base, project),
          writer: createRegistryWriter({ peer: project.peer }),
          target: project.target,
          arguments: provided,
          onStep: (step) => stderr.write(`${step}\n`),
        });
        stderr.write(`pushed, ${digest}\n`);
        stdout.write(`${project.reference}\n`);
        return 0;
      } finally {
        await project.close();
      }
    } catch (error) {
      if (error instanceof ContainerfileError) {
        throw new CommandError(`${path}, ${error.message}`);
      }
      throw error instanceof RegistryRefusal ? new CommandError(`the registry refused: ${error.message}`) : error;
    }
  },
};

/** The image of FROM: a name without a host is one of the workspace's own project. */
function findBase(name: string, { host, project, clientOf }: RegistryProject): BaseImage | undefined {
  if (name === "scratch") {
    return undefined;
  }
  const reference = parseReference(name) ?? parseReference(`${host}/${project}/${name}`);
  if (reference === undefined) {
    throw new CommandError(`FROM ${name} is not the name of an image`);
  }
  return {
    client: clientOf(reference.host),
    repository: locate(reference).repository,
    reference: reference.digest ?? reference.tag ?? "latest",
    isSameRegistry: reference.host === host,
  };
}

async function findFile(folder: string): Promise<string> {
  for (const name of FILES) {
    const path = join(folder, name);
    if (await stat(path).catch(() => undefined)) {
      return path;
    }
  }
  throw new CommandError(`${folder} has no ${FILES.join(" and no ")}; -f names another file`);
}

function readArgument(text: string): [string, string] {
  const [, name, value] = /^(\w+)=(.*)$/s.exec(text) ?? [];
  if (name === undefined || value === undefined) {
    throw new CommandError(`--build-arg ${text}: write NAME=VALUE`, 2);
  }
  return [name, value];
}
