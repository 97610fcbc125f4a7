import { accessSync, constants, existsSync, statSync, statfsSync } from "node:fs";
import { dirname } from "node:path";

import { findBarrier, findDatabaseAccount } from "@swath/postgres/account";

import { formatBytes } from "../../view/bytes.ts";
import type { Check, Finding } from "../finding.ts";

const GIB = 2 ** 30;

/** The folder that everything is kept in: whether it can be made and reached, and the room below it. */
export const checkDisk: Check = ({ prepared: { paths }, plan }) => {
  const existing = findExisting(paths.directory);
  const findings: Finding[] = [
    ...checkAccess(
      paths.directory,
      existing,
      plan.workloads.some(({ account }) => account === "database"),
    ),
  ];
  const { bavail, bsize } = statfsSync(existing);
  const free = bavail * bsize;
  const found = `${formatBytes(free)} free for ${paths.directory}`;
  if (free < GIB) {
    return [
      ...findings,
      {
        verdict: "bad",
        subject: "disk",
        found,
        meaning:
          "The database needs about 100 MiB to begin with, and the object store takes nothing when less than 512 MiB are free.",
        advice: "Free some, or set SWATH_STATE_DIR to a folder on a larger disk.",
      },
    ];
  }
  return [
    ...findings,
    free < 10 * GIB
      ? {
          verdict: "limited",
          subject: "disk",
          found,
          meaning: "Enough to try the platform; a few scenes and their results fill it.",
          advice: "Set SWATH_STATE_DIR to a folder on a larger disk.",
        }
      : { verdict: "good", subject: "disk", found },
  ];
};

function checkAccess(directory: string, existing: string, hasDatabase: boolean): readonly Finding[] {
  const advice = "Set SWATH_STATE_DIR to a folder of yours that everybody may pass through to (/srv/swath).";
  try {
    if (!statSync(existing).isDirectory()) {
      throw new Error(`${existing} is not a folder`);
    }
    accessSync(existing, constants.W_OK);
    const account = hasDatabase ? findDatabaseAccount() : undefined;
    const barrier = findBarrier(existing, account);
    return barrier === undefined
      ? []
      : [
          {
            verdict: "bad",
            subject: "state folder",
            found: `${barrier} is closed to the account "${account?.name}"`,
            meaning: "PostgreSQL does not run as root; its account has to pass through to its data.",
            advice: `chmod o+x ${barrier}. Or: ${advice}`,
          },
        ];
  } catch (error) {
    return [
      {
        verdict: "bad",
        subject: "state folder",
        found: `the state folder ${directory} cannot be used: ${(error as Error).message}`,
        meaning: "Nothing can be kept.",
        advice,
      },
    ];
  }
}

function findExisting(path: string): string {
  return existsSync(path) ? path : findExisting(dirname(path));
}
