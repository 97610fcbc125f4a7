import { checkUpgrade, prepareBackupFile } from "../../releases/prepare-upgrade.ts";
import type { Release } from "../../releases/releases.ts";
import type { Target } from "../../targets/target.ts";
import { backupCommand } from "./backup.ts";
import { CommandError, type CommandContext } from "../command.ts";

export const NO_BACKUP = "--no-backup";

interface UpgradeFirstOptions {
  readonly target: Target;
  readonly cluster: string;
  readonly release: Release;
  readonly context: CommandContext;
  readonly withBackup: boolean;
}

/**
 * Before a version with other migrations replaces the one that runs: an older one is refused, and a backup is made of what is there.
 * @returns the release, with its backup
 * @throws {CommandError} before anything was changed
 */
export async function upgradeFirst({
  target,
  cluster,
  release,
  context,
  withBackup,
}: UpgradeFirstOptions): Promise<Release> {
  const deployed = await target.readPlan();
  if (deployed === undefined) {
    return release;
  }
  const last = (await target.releases.read()).at(-1);
  const upgrade = checkUpgrade({ deployed, last, release });
  if (upgrade.kind === "refused") {
    const { migrations } = upgrade;
    throw new CommandError(
      `nothing was changed: the data of cluster "${cluster}" belong to a newer version (${describe(upgrade.last)}), whose changes this one does not know: ` +
        `${migrations.join(", ")}. Deploy that version or a newer one. To go back all the same: swath restore of a backup that this version made.`,
    );
  }
  if (upgrade.kind === "none") {
    return release;
  }
  const { stdout } = context;
  if (upgrade.migrations.length > 0) {
    stdout.write(`This version changes the data: ${upgrade.migrations.join(", ")}\n`);
  }
  if (!withBackup) {
    stdout.write(`Note: no backup is made first (${NO_BACKUP}).\n`);
    return release;
  }
  if ((await target.listPods()).length === 0) {
    stdout.write("Note: no backup is made first, because nothing runs.\n");
    return release;
  }
  const backup = prepareBackupFile(cluster, context.env);
  try {
    await backupCommand.run({ ...context, args: [cluster, "-o", backup] });
  } catch (error) {
    throw new CommandError(
      `nothing was changed: this version changes the data, and the backup before it failed: ${(error as Error).message}. ` +
        `Mend that, or make a backup by yourself (bin/swath backup -o FILE) and repeat the apply with ${NO_BACKUP}.`,
    );
  }
  return { ...release, backup };
}

export function describe({ version, commit, appliedAt }: Release): string {
  return `${version}${commit === undefined ? "" : `, commit ${commit.slice(0, 12)}`}, applied ${appliedAt.slice(0, 16).replace("T", " ")}`;
}
