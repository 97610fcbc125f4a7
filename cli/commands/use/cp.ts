import { createReadStream } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { basename, join, relative, sep } from "node:path";
import type { Readable } from "node:stream";
import { parseArgs } from "node:util";

import { GetObjectCommand, type S3Client, S3ServiceException, paginateListObjectsV2 } from "@aws-sdk/client-s3";
import { Upload } from "@aws-sdk/lib-storage";

import { placeWithin, saveFile } from "../../client/save-file.ts";
import { PLATFORM_HELP, openSession, platformOption } from "../../client/session.ts";
import { type StorePlace, openBucket, openStore, parsePlace } from "../../client/storage.ts";
import { CommandError, type Command } from "../command.ts";

const USAGE = `
Usage: swath cp FROM TO [-r]

Copies a file to or from the bucket of one of your workspaces. One of the two is an address in the store, s3://ws-eric/scenes/a.tif; one that
ends with a slash is a folder, which the file keeps its name in.

  -r, --recursive   a folder with all that is in it
  --root            any bucket of the object store, with its own keys, for operators of a cluster of this machine; a bucket that is missing is made
${PLATFORM_HELP}`;

const PART_BYTES = 16 << 20;

export const cpCommand: Command = {
  name: "cp",
  summary: "copy files to and from a workspace's bucket",
  usage: USAGE,
  run: async ({ args, env, stdout }) => {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        recursive: { type: "boolean", short: "r", default: false },
        root: { type: "boolean", default: false },
        ...platformOption,
      },
    });
    const [from, to, more] = positionals;
    if (from === undefined || to === undefined || more !== undefined) {
      throw new CommandError(`what is to be copied, and where?\n${USAGE}`, 2);
    }
    const [source, target] = [parsePlace(from), parsePlace(to)];
    const place = source ?? target;
    if (place === undefined || (source !== undefined && target !== undefined)) {
      throw new CommandError(
        "one of the two is to be an address in the store (s3://BUCKET/KEY), the other a path of this machine",
        2,
      );
    }
    const s3 = values.root
      ? await openStore(env, values.platform, target === undefined ? undefined : place.bucket)
      : await openBucket(await openSession(env, values.platform), place.bucket);
    const print = (line: string) => stdout.write(`${line}\n`);
    try {
      await (source === undefined
        ? upload(s3, from, place, { isRecursive: values.recursive, print })
        : download(s3, source, to, { isRecursive: values.recursive, print }));
    } catch (error) {
      throw error instanceof S3ServiceException
        ? new CommandError(`the store refused: ${error.name === "NoSuchKey" ? `there is no ${from}` : error.message}`)
        : error;
    } finally {
      s3.destroy();
    }
    return 0;
  },
};

interface CopyOptions {
  readonly isRecursive: boolean;
  readonly print: (line: string) => void;
}

async function upload(s3: S3Client, from: string, { bucket, key }: StorePlace, options: CopyOptions): Promise<void> {
  const found = await stat(from).catch((error: unknown) => {
    throw new CommandError(`${from} cannot be read (${(error as Error).message})`);
  });
  if (found.isDirectory() && !options.isRecursive) {
    throw new CommandError(`${from} is a folder; -r copies it with all that is in it`, 2);
  }
  const prefix = key === "" || key.endsWith("/") ? key : `${key}/`;
  const files = found.isDirectory()
    ? (await readdir(from, { recursive: true, withFileTypes: true }))
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name))
        .map((path) => [path, `${prefix}${relative(from, path).split(sep).join("/")}`] as const)
    : [[from, key === "" || key.endsWith("/") ? `${key}${basename(from)}` : key] as const];
  for (const [path, name] of files) {
    await new Upload({
      client: s3,
      params: { Bucket: bucket, Key: name, Body: createReadStream(path) },
      partSize: PART_BYTES,
    }).done();
    options.print(`s3://${bucket}/${name}`);
  }
}

async function download(s3: S3Client, { bucket, key }: StorePlace, to: string, options: CopyOptions): Promise<void> {
  if (!options.isRecursive) {
    const isFolder =
      to.endsWith("/") ||
      (await stat(to).then(
        (found) => found.isDirectory(),
        () => false,
      ));
    await save(s3, { bucket, key }, isFolder ? placeWithin(to, basename(key)) : to, options);
    return;
  }
  const prefix = key === "" || key.endsWith("/") ? key : `${key}/`;
  for await (const { Contents = [] } of paginateListObjectsV2({ client: s3 }, { Bucket: bucket, Prefix: prefix })) {
    for (const { Key = "" } of Contents) {
      if (!Key.endsWith("/")) {
        await save(s3, { bucket, key: Key }, placeWithin(to, Key.slice(prefix.length)), options);
      }
    }
  }
}

async function save(s3: S3Client, { bucket, key }: StorePlace, path: string, { print }: CopyOptions): Promise<void> {
  const { Body } = await s3.send(new GetObjectCommand({ Bucket: bucket, Key: key }));
  await saveFile(path, Body as Readable);
  print(path);
}
