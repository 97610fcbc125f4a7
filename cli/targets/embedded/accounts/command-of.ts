import { join } from "node:path";

import { repositoryRoot } from "../launch/code-version.ts";
import { type AccountMeans, setprivOptions } from "./find-obstacle.ts";
import type { Account } from "./plan-accounts.ts";

/**
 * The command that runs a program of this checkout with Node.js, as an account. Each part of it becomes the next one, so that the
 * process that is started is the program in the end.
 */
export function commandOf(
  program: string,
  account: Account | undefined,
  means: AccountMeans | undefined,
): readonly [string, ...string[]] {
  if (account === undefined || means === undefined) {
    return [process.execPath, program];
  }
  const inside: readonly [string, ...string[]] = means.hasSetpriv
    ? ["setpriv", ...setprivOptions(account), process.execPath, program]
    : [
        process.execPath,
        join(repositoryRoot, "cli/targets/embedded/accounts/become.ts"),
        String(account.uid),
        String(account.gid),
        account.groups.join(","),
        program,
      ];
  return means.hidden === undefined
    ? inside
    : ["unshare", "--mount", "sh", "-c", revealScript(means.hidden), ...inside];
}

/**
 * A shell script that shows folders below one that others may not enter, at their own paths, with nothing else of it: in a mount name
 * space of the program's own. It becomes the command that its arguments are.
 */
function revealScript({ barrier, trees }: NonNullable<AccountMeans["hidden"]>): string {
  // The mount points must be outside of what is covered; /mnt is in every Linux, and nothing else sees what is mounted here.
  const quote = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;
  return [
    "set -e",
    "mkdir -p /mnt",
    "mount -t tmpfs -o size=1m,mode=755 swath /mnt",
    ...trees.map((tree, index) => `mkdir /mnt/${index}; mount --bind ${quote(tree)} /mnt/${index}`),
    `mount -t tmpfs -o size=1m,mode=755 swath ${quote(barrier)}`,
    ...trees.map((tree, index) => `mkdir -p ${quote(tree)}; mount --bind /mnt/${index} ${quote(tree)}`),
    `mount -o remount,ro ${quote(barrier)}`,
    "umount -R /mnt",
    // The folder that it was started in is the one that is covered now.
    `cd ${quote(repositoryRoot)}`,
    'exec "$0" "$@"',
  ].join("\n");
}
