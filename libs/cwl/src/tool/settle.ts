import { existsSync, lstatSync, mkdirSync, readdirSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { CwlError, messageOf } from "../errors.ts";
import { copyOrReflink, copyTree } from "../files/copy.ts";
import { isInside } from "../files/inside.ts";
import type { Workspace } from "./workspace.ts";

/** Replaces links and mounts inside an output directory by what they lead to, so that it stands on its own. */
export async function settleDirectory(host: string, seen: string, workspace: Workspace): Promise<void> {
  for (const mount of workspace.mounts) {
    const target =
      isInside(mount.target, seen) && mount.target !== seen
        ? join(host, mount.target.slice(seen.length + 1))
        : undefined;
    if (target !== undefined) {
      rmSync(target, { recursive: true, force: true });
      await copyInto(mount.source, target);
    }
  }
  for (const entry of readdirSync(host, { withFileTypes: true })) {
    const [path, seenPath] = [join(host, entry.name), `${seen}/${entry.name}`];
    if (entry.isSymbolicLink()) {
      const target = workspace.resolve(seenPath);
      rmSync(path);
      if (target !== undefined && !isInside(path, target)) {
        await copyInto(target, path);
      }
    } else if (entry.isDirectory()) {
      await settleDirectory(path, seenPath, workspace);
    }
  }
}

async function copyInto(source: string, target: string): Promise<void> {
  if (!existsSync(source)) {
    return;
  }
  mkdirSync(dirname(target), { recursive: true });
  if (lstatSync(source).isDirectory()) {
    await copyTree(source, target);
  } else {
    await copyOrReflink(source, target);
  }
}

/**
 * Replaces the links that a container has put into directories of other steps (InplaceUpdateRequirement) by what they lead to
 * for the tool: later steps and this engine would follow them somewhere else. Links that lead nowhere of the tool's are removed,
 * and the first of them is the error.
 */
export async function settleUpdated(workspace: Workspace): Promise<void> {
  const wrong: unknown[] = [];
  for (const { source, target, writable } of workspace.mounts) {
    const isOfOthers = writable && workspace.sources.has(source);
    if (isOfOthers && statSync(source, { throwIfNoEntry: false })?.isDirectory() === true) {
      await settleUpdatedDirectory(source, target, workspace, wrong);
    }
  }
  const [first] = wrong;
  if (first !== undefined) {
    throw first instanceof CwlError ? first : new CwlError("unsafe", messageOf(first), { cause: first });
  }
}

async function settleUpdatedDirectory(
  host: string,
  seen: string,
  workspace: Workspace,
  wrong: unknown[],
): Promise<void> {
  for (const entry of readdirSync(host, { withFileTypes: true })) {
    const [path, seenPath] = [`${host}/${entry.name}`, `${seen}/${entry.name}`];
    if (entry.isDirectory()) {
      await settleUpdatedDirectory(path, seenPath, workspace, wrong);
    } else if (entry.isSymbolicLink()) {
      const target = targetOf(seenPath, workspace, wrong);
      rmSync(path);
      if (target !== undefined && !isInside(path, target)) {
        await copyInto(target, path);
      }
    }
  }
}

function targetOf(seen: string, workspace: Workspace, wrong: unknown[]): string | undefined {
  try {
    return workspace.resolve(seen);
  } catch (error) {
    wrong.push(error);
    return undefined;
  }
}
