import { readFile, rm } from "node:fs/promises";

import { invalidParameter } from "../errors.ts";
import { stageIn } from "../staging/stage-in.ts";
import { makeOwnFolder } from "./own-folder.ts";

const LARGEST = 5 * 1024 * 1024;
const SECONDS = 30;

interface FetchedValue {
  readonly value: unknown;
  readonly mediaType: string;
  readonly encoding?: "base64";
}

/**
 * What is at the address of a small input: JSON and texts as they are, anything else as base64. The guards of larger inputs hold.
 * @throws {OgcError} 400
 */
export async function fetchInput(
  { href, type }: { readonly href: string; readonly type?: string },
  dataFolder: string,
  allowPrivate: readonly string[],
): Promise<FetchedValue> {
  const target = await makeOwnFolder(dataFolder);
  try {
    const staged = await stageIn({
      source: { href, as: "file", ...(type !== undefined && { mediaType: type }) },
      target,
      access: {
        allowPrivate,
        internal: [],
        s3: [],
        limits: { maxBytes: LARGEST, maxFileBytes: LARGEST, maxSeconds: SECONDS, retries: 1 },
      },
      signal: AbortSignal.timeout(SECONDS * 1000),
    });
    return toValue(await readFile(staged.path), type ?? "application/json");
  } catch (error) {
    throw invalidParameter(`The input cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  } finally {
    await rm(target, { recursive: true, force: true });
  }
}

function toValue(bytes: Buffer, mediaType: string): FetchedValue {
  if (/\bjson\b/.test(mediaType)) {
    return { value: JSON.parse(bytes.toString("utf8")) as unknown, mediaType };
  }
  return /^text\/|\bxml\b/.test(mediaType)
    ? { value: bytes.toString("utf8"), mediaType }
    : { value: bytes.toString("base64"), mediaType, encoding: "base64" };
}
