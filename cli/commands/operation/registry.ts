import { createReadStream, existsSync } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { lookup } from "node:dns";
import { basename, join, resolve } from "node:path";
import { parseArgs } from "node:util";

import { readEntries, unpackEntry } from "@swath/archive";
import {
  type Reference,
  createRegistryClient,
  createRegistryWriter,
  createRemote,
  locate,
  parseReference,
  pushDockerArchive,
  pushLayout,
  pushPackage,
  saveDockerArchive,
  saveImage,
} from "@swath/oci";
import { Agent } from "undici";

import { withTemporaryFolder } from "../../client/temporary-folder.ts";
import { CommandError, type Command, type CommandContext } from "../command.ts";

const USAGE = `
Usage: swath registry push-package FILE.cwl REFERENCE [options]
       swath registry export REFERENCE FILE.tar [options]
       swath registry import FILE.tar|FOLDER REFERENCE [options]

  push-package   pushes a CWL document as an application package, which the processing service deploys by its reference
  export         saves an image, or an index with all its images, as an OCI layout in a tar file
  import         pushes what an OCI layout or an archive of docker save holds, in a tar file or a folder

  --user NAME            who logs in; default: admin
  --password-file FILE   its password or secret; default: the environment's REGISTRY_PASSWORD
  --plain-http           without TLS
  --docker-archive       export: the image for this machine, as docker load and podman load take it

A REFERENCE is HOST/PROJECT/NAME:TAG.`;

const MAX_PACKAGE_BYTES = 2 << 20;

export const registryCommand: Command = {
  name: "registry",
  summary: "push application packages, export and import images",
  usage: USAGE,
  run: async (context) => {
    const { values, positionals } = parseArgs({
      args: [...context.args],
      allowPositionals: true,
      options: {
        user: { type: "string", default: "admin" },
        "password-file": { type: "string" },
        "plain-http": { type: "boolean", default: false },
        "docker-archive": { type: "boolean", default: false },
      },
    });
    const [action, first, second] = positionals;
    if (first === undefined || second === undefined || positionals.length > 3) {
      throw new CommandError(`what is to be done?\n${USAGE}`, 2);
    }
    const options = { user: values.user, passwordFile: values["password-file"], isPlain: values["plain-http"] };
    switch (action) {
      case "push-package":
        return push(context, resolve(first), await open(context, second, options));
      case "export":
        return exportImage(context, await open(context, first, options), {
          path: resolve(second),
          isForDocker: values["docker-archive"],
        });
      case "import":
        return importImage(context, resolve(first), await open(context, second, options));
      default:
        throw new CommandError(`registry knows push-package, export and import, not ${action ?? "nothing"}`, 2);
    }
  },
};

interface Options {
  readonly user: string;
  readonly passwordFile: string | undefined;
  readonly isPlain: boolean;
}

interface Opened {
  readonly reference: Reference;
  readonly text: string;
  /** What the repository is called there. */
  readonly repository: string;
  readonly connection: Parameters<typeof createRegistryClient>[0];
  readonly close: () => Promise<void>;
}

async function open({ env }: CommandContext, text: string, { user, passwordFile, isPlain }: Options): Promise<Opened> {
  const reference = parseReference(text);
  if (reference === undefined) {
    throw new CommandError(`"${text}" is not a reference; write HOST/PROJECT/NAME:TAG`, 2);
  }
  const password =
    passwordFile === undefined
      ? env["REGISTRY_PASSWORD"]
      : (await readFile(passwordFile, "utf8")).replace(/\r?\n$/, "");
  const agent = new Agent({
    connect: {
      // Browsers know where names below localhost lead; the resolver of the system does not.
      lookup: (name, options, callback) => lookup(name.endsWith(".localhost") ? "localhost" : name, options, callback),
    },
  });
  const { host, repository } = locate(reference);
  return {
    reference,
    text,
    repository,
    connection: {
      peer: createRemote({
        url: `${isPlain ? "http" : "https"}://${host}`,
        dispatcher: agent,
        actions: "pull,push",
        login: password === undefined ? undefined : { username: user, password },
      }),
    },
    close: () => agent.destroy(),
  };
}

async function push(
  { stdout }: CommandContext,
  path: string,
  { reference, repository, text, ...opened }: Opened,
): Promise<number> {
  const { size } = await stat(path);
  if (size > MAX_PACKAGE_BYTES) {
    throw new CommandError(`${path} has ${size} bytes; an application package has ${MAX_PACKAGE_BYTES} at most`);
  }
  const target = { repository, tag: reference.tag ?? "latest" };
  const file = { text: await readFile(path), name: basename(path) };
  return using(opened, async () => {
    const digest = await pushPackage(createRegistryWriter(opened.connection), target, file);
    stdout.write(`pushed ${text}\n${digest}\n`);
  });
}

async function exportImage(
  { stdout }: CommandContext,
  { reference, repository, text, ...opened }: Opened,
  { path, isForDocker }: { readonly path: string; readonly isForDocker: boolean },
): Promise<number> {
  const { tag, digest } = reference;
  return using(opened, async () => {
    const client = createRegistryClient(opened.connection);
    const found = await client.readManifest(repository, digest ?? tag ?? "latest");
    const saved = isForDocker
      ? await saveDockerArchive(client, {
          repository,
          digest: found.digest,
          path,
          name: `${reference.host}/${reference.repository}:${tag ?? "latest"}`,
        })
      : found.digest;
    if (!isForDocker) {
      await saveImage(client, { repository, digest: found.digest, path, platforms: "all", tag });
    }
    stdout.write(`saved ${text} in ${path}\n${saved}\n`);
  });
}

async function importImage(
  { stdout }: CommandContext,
  path: string,
  { reference, repository, text, ...opened }: Opened,
): Promise<number> {
  const target = { repository, tag: reference.tag ?? "latest" };
  const push = async (folder: string) => {
    const isLayout = existsSync(join(folder, "index.json"));
    const writer = createRegistryWriter(opened.connection);
    const digest = await (isLayout ? pushLayout : pushDockerArchive)(writer, folder, target);
    stdout.write(`pushed ${text}\n${digest}\n`);
  };
  const isFolder = (await stat(path)).isDirectory();
  return using(opened, async () => {
    if (isFolder) {
      await push(path);
      return;
    }
    await withTemporaryFolder("import", async (folder) => {
      // Archives of docker save have their layers once more under older names, as links.
      for await (const entry of readEntries(createReadStream(path), { skipsLinks: true })) {
        await unpackEntry(entry, folder);
      }
      await push(folder);
    });
  });
}

async function using({ close }: Pick<Opened, "close">, work: () => Promise<void>): Promise<number> {
  try {
    await work();
    return 0;
  } finally {
    await close();
  }
}
