import { createReadStream } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, posix } from "node:path";
import { Readable } from "node:stream";

import type { Descriptor } from "../manifest.ts";
import { type RegistryClient, RegistryRefusal, digestOf } from "../registry-client.ts";
import type { RegistryWriter } from "../registry-writer.ts";
import { findImage, ownArchitecture } from "../save-image.ts";
import { type ConfigStep, type Containerfile, ContainerfileError, expandVariables } from "./containerfile.ts";
import { openContext } from "./context.ts";
import { writeLayer } from "./write-layer.ts";

/** The image that a build begins with. */
export interface BaseImage {
  readonly client: RegistryClient;
  readonly repository: string;
  /** Tag or digest. */
  readonly reference: string;
  /** Whether it is in the registry that is pushed to. */
  readonly isSameRegistry: boolean;
}

interface BuildOptions {
  readonly file: Containerfile;
  /** The folder that COPY takes files of. */
  readonly folder: string;
  /** Undefined for `scratch`. */
  readonly base: BaseImage | undefined;
  readonly writer: RegistryWriter;
  readonly target: { readonly repository: string; readonly tag: string };
  /** Values of ARG. */
  readonly arguments?: ReadonlyMap<string, string>;
  readonly onStep?: (text: string) => void;
}

/** What the image specification calls the configuration of an image. */
interface ImageConfig {
  readonly architecture: string;
  readonly os: string;
  readonly config?: Settings;
  readonly rootfs: { readonly type: "layers"; readonly diff_ids: readonly string[] };
  readonly history?: readonly object[];
}

interface Settings {
  readonly Env?: readonly string[] | null;
  readonly Labels?: Readonly<Record<string, string>> | null;
  readonly WorkingDir?: string;
  readonly User?: string;
  readonly Entrypoint?: readonly string[] | null;
  readonly Cmd?: readonly string[] | null;
  readonly ExposedPorts?: Readonly<Record<string, object>> | null;
}

const IMAGE = "application/vnd.oci.image.manifest.v1+json";
const CONFIG = "application/vnd.oci.image.config.v1+json";
const LAYER = "application/vnd.oci.image.layer.v1.tar+gzip";
/** Layers of Docker's own form are the same bytes as those of the specification. */
const LAYER_TYPES: ReadonlyMap<string, string> = new Map(
  Object.entries<string>({
    "application/vnd.docker.image.rootfs.diff.tar.gzip": LAYER,
    "application/vnd.docker.image.rootfs.diff.tar": "application/vnd.oci.image.layer.v1.tar",
    [LAYER]: LAYER,
    "application/vnd.oci.image.layer.v1.tar": "application/vnd.oci.image.layer.v1.tar",
    "application/vnd.oci.image.layer.v1.tar+zstd": "application/vnd.oci.image.layer.v1.tar+zstd",
  }),
);
const MAX_CONFIG_BYTES = 8 << 20;
const MAX_LAYERS = 127;

/**
 * Builds an image without running anything: a base image with files and settings more. It needs no rights and no builder.
 * Gives the digest of the image that was pushed.
 * @throws {ContainerfileError} {RegistryRefusal}
 */
export async function buildImage(options: BuildOptions): Promise<string> {
  const { file, folder, base, writer, target, onStep = () => {} } = options;
  const context = await openContext(folder);
  const begin = base === undefined ? emptyImage() : await readBase(base);
  const layers = [...begin.layers];
  const diffIds = [...begin.config.rootfs.diff_ids];
  const history = [...(begin.config.history ?? [])];
  const created = new Date().toISOString();
  let settings = begin.config.config ?? {};
  const provided = new Map<string, string>();
  const temporary = await mkdtemp(join(tmpdir(), "swath-build-"));
  try {
    for (const step of file.steps) {
      onStep(step.text);
      // What ENV sets counts more than an ARG of the name.
      const variables = new Map([...provided, ...(settings.Env ?? []).map(toPair)]);
      const expand = (text: string) => expandVariables(text, variables);
      if (step.kind === "config") {
        settings = changeSettings(settings, step, { expand, provided, arguments: options.arguments ?? new Map() });
        history.push({ created, created_by: step.text, empty_layer: true });
        continue;
      }
      const expanded = { ...step, sources: step.sources.map(expand), target: expand(step.target) };
      const entries = await context.select(expanded, settings.WorkingDir ?? "/");
      const path = join(temporary, String(layers.length));
      const { digest, size, diffId } = await writeLayer(path, entries, step.owner);
      await writer.pushBlob(target.repository, { digest, size, open: () => createReadStream(path) });
      await rm(path);
      layers.push({ mediaType: LAYER, digest, size });
      diffIds.push(diffId);
      history.push({ created, created_by: step.text });
    }
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
  if (layers.length > MAX_LAYERS) {
    throw new RegistryRefusal(400, `The image would have ${layers.length} layers; ${MAX_LAYERS} are possible.`);
  }
  const config = Buffer.from(
    JSON.stringify({
      ...begin.config,
      created,
      config: settings,
      rootfs: { type: "layers", diff_ids: diffIds },
      history,
    }),
  );
  const described = { mediaType: CONFIG, digest: digestOf(config), size: config.length };
  await writer.pushBlob(target.repository, { ...described, open: () => config });
  if (base !== undefined) {
    await copyLayers(base, begin.layers, writer, target.repository);
  }
  const manifest = Buffer.from(JSON.stringify({ schemaVersion: 2, mediaType: IMAGE, config: described, layers }));
  await writer.pushManifest(target.repository, target.tag, IMAGE, manifest);
  return digestOf(manifest);
}

interface Begin {
  readonly config: ImageConfig;
  readonly layers: readonly Descriptor[];
}

const emptyImage = (): Begin => ({
  config: { architecture: ownArchitecture(), os: "linux", config: {}, rootfs: { type: "layers", diff_ids: [] } },
  layers: [],
});

async function readBase({ client, repository, reference }: BaseImage): Promise<Begin> {
  const { document } = await findImage(client, repository, reference, undefined);
  const { config: described, layers = [] } = document;
  if (described === undefined || described.size > MAX_CONFIG_BYTES) {
    throw new RegistryRefusal(400, `${repository}:${reference} is not an image that one can build on.`);
  }
  const chunks: Buffer[] = [];
  for await (const chunk of await client.readBlob(repository, described.digest, { size: described.size })) {
    chunks.push(chunk);
  }
  const config = JSON.parse(Buffer.concat(chunks).toString()) as Partial<ImageConfig>;
  const { architecture, os, rootfs } = config;
  if (architecture === undefined || os === undefined || rootfs?.diff_ids.length !== layers.length) {
    throw new RegistryRefusal(400, `${repository}:${reference} is an artifact, not an image.`);
  }
  return {
    config: { ...config, architecture, os, rootfs },
    layers: layers.map(({ mediaType, digest, size }) => {
      const type = LAYER_TYPES.get(mediaType);
      if (type === undefined) {
        throw new RegistryRefusal(400, `${repository}:${reference} has layers of the kind ${mediaType}.`);
      }
      return { mediaType: type, digest, size };
    }),
  };
}

async function copyLayers(
  { client, repository, isSameRegistry }: BaseImage,
  layers: readonly Descriptor[],
  writer: RegistryWriter,
  target: string,
): Promise<void> {
  for (const { digest, size } of layers) {
    await writer.pushBlob(target, {
      digest,
      size,
      ...(isSameRegistry && { from: repository }),
      open: async () => Readable.from(await client.readBlob(repository, digest, { size })),
    });
  }
}

interface ChangeOptions {
  readonly expand: (text: string) => string;
  /** Values of ARG so far; this adds to them. */
  readonly provided: Map<string, string>;
  readonly arguments: ReadonlyMap<string, string>;
}

function changeSettings(
  settings: Settings,
  { keyword, pairs, words, line }: ConfigStep,
  { expand, provided, arguments: values }: ChangeOptions,
): Settings {
  switch (keyword) {
    case "ARG":
      for (const [name, value = ""] of pairs) {
        provided.set(name, values.get(name) ?? expand(value));
      }
      return settings;
    case "ENV": {
      const all = new Map((settings.Env ?? []).map(toPair));
      pairs.forEach(([name, value = ""]) => all.set(name, expand(value)));
      return { ...settings, Env: [...all].map(([name, value]) => `${name}=${value}`) };
    }
    case "LABEL":
      return {
        ...settings,
        Labels: { ...settings.Labels, ...Object.fromEntries(pairs.map(([name, value = ""]) => [name, expand(value)])) },
      };
    case "WORKDIR":
      return { ...settings, WorkingDir: posix.resolve("/", settings.WorkingDir ?? "/", expand(words[0] ?? "")) };
    case "USER": {
      const user = expand(words[0] ?? "");
      if (user === "") {
        throw new ContainerfileError(line, "USER is empty");
      }
      return { ...settings, User: user };
    }
    case "ENTRYPOINT": {
      // The base's arguments are for the base's program.
      const { Cmd: _, ...rest } = settings;
      return { ...rest, Entrypoint: words };
    }
    case "CMD":
      return { ...settings, Cmd: words };
    case "EXPOSE":
      return {
        ...settings,
        ExposedPorts: {
          ...settings.ExposedPorts,
          ...Object.fromEntries(words.map((word) => [word.includes("/") ? word : `${word}/tcp`, {}])),
        },
      };
  }
}

function toPair(text: string): [string, string] {
  const at = text.indexOf("=");
  return at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)];
}
