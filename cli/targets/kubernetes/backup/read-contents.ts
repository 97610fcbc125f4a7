import { createReadStream } from "node:fs";

import { ArchiveError, type ArchiveEntry } from "@swath/archive";

import { type BackupHeader, readBackup } from "../../../backup/format.ts";
import type { Plan } from "../../../platform/plan.ts";
import { PLAN_ENTRY, SECRETS_ENTRY } from "./entries.ts";

/** What a backup holds besides its volumes. */
export interface BackupContents {
  readonly plan: Plan;
  readonly secrets: ReadonlyMap<string, string>;
}

/** Bytes that a plan has at most. */
const LARGEST = 16 << 20;

/**
 * Reads a whole backup, so that one that is damaged or cut short is known before anything is changed.
 * @throws {ArchiveError} when it cannot be restored
 */
export async function readContents(file: string, { volumes }: BackupHeader): Promise<BackupContents> {
  const texts = new Map<string, string>();
  await readBackup(createReadStream(file), {
    header: () => {},
    entry: async (entry) => {
      if (entry.name === PLAN_ENTRY || entry.name === SECRETS_ENTRY) {
        texts.set(entry.name, await readText(entry));
        return;
      }
      if (volumeOf(entry.name, volumes) === undefined) {
        throw new ArchiveError(`${JSON.stringify(entry.name)} is no name that a backup of a cluster may hold`);
      }
      for await (const _ of entry.content) {
        // Read only to know that it can be.
      }
    },
  });
  const [plan, secrets] = [texts.get(PLAN_ENTRY), texts.get(SECRETS_ENTRY)];
  if (plan === undefined || secrets === undefined) {
    throw new ArchiveError("the backup holds no deployment; use another one");
  }
  return {
    plan: JSON.parse(plan) as Plan,
    secrets: new Map(Object.entries(JSON.parse(secrets) as Record<string, string>)),
  };
}

/** The volume (`<namespace>/<name>`) that an entry belongs to, and its name in it. */
export function volumeOf(
  entry: string,
  volumes: readonly string[],
): { readonly volume: string; readonly name: string } | undefined {
  const volume = volumes.find((candidate) => entry.startsWith(`volumes/${candidate}/`));
  return volume === undefined ? undefined : { volume, name: entry.slice(`volumes/${volume}/`.length) };
}

async function readText({ content, size, name }: ArchiveEntry): Promise<string> {
  if (size > LARGEST) {
    throw new ArchiveError(`${name} is too large for a backup of Swath`);
  }
  const chunks: Uint8Array[] = [];
  for await (const chunk of content) {
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}
