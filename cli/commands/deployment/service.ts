import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { homedir, userInfo } from "node:os";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";

import { repositoryRoot } from "../../targets/embedded/launch/code-version.ts";
import { stateRoot } from "../../targets/embedded/state/paths.ts";
import { CommandError, type Command } from "../command.ts";
import { DEFAULT_CLUSTER, openEmbeddedTarget, readDeployedPlan } from "../../targets/open-target.ts";

export const serviceCommand: Command = {
  name: "service",
  summary: "start the deployment with the machine (systemd)",
  usage: `
Usage: swath service install [CLUSTER]
       swath service remove [CLUSTER]

install writes a systemd unit that starts the deployment when the machine starts, and stops it before the machine stops:
/etc/systemd/system/swath-CLUSTER.service for root, ~/.config/systemd/user/swath-CLUSTER.service for anybody else, whose services
systemd starts at boot after: loginctl enable-linger`,
  run: async ({ args, env, stdout }) => {
    const { positionals } = parseArgs({ args: [...args], allowPositionals: true, options: {} });
    const [action, cluster = DEFAULT_CLUSTER, ...more] = positionals;
    if ((action !== "install" && action !== "remove") || more.length > 0) {
      throw new CommandError("what should be done? Usage: swath service install|remove [CLUSTER]", 2);
    }
    const isRoot = userInfo().uid === 0;
    const unit = `swath-${cluster}.service`;
    const file = join(isRoot ? "/etc/systemd/system" : join(homedir(), ".config/systemd/user"), unit);
    const systemctl = (...words: readonly string[]) => runSystemctl([...(isRoot ? [] : ["--user"]), ...words], env);
    if (action === "remove") {
      if (!existsSync(file)) {
        throw new CommandError(`${file} does not exist; there is nothing to remove`);
      }
      systemctl("disable", unit);
      rmSync(file);
      systemctl("daemon-reload");
      stdout.write(`removed ${file}; the deployment goes on running\n`);
      return 0;
    }
    await readDeployedPlan(openEmbeddedTarget(cluster, env));
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, formatUnit({ cluster, state: stateRoot(env), isRoot }));
    systemctl("daemon-reload");
    systemctl("enable", unit);
    stdout.write(
      `wrote ${file}: the deployment "${cluster}" starts with this machine\n${isRoot ? "" : "Once, so that it starts before you log in: loginctl enable-linger\n"}`,
    );
    return 0;
  },
};

interface UnitOptions {
  readonly cluster: string;
  /** Value of SWATH_STATE_DIR. */
  readonly state: string;
  readonly isRoot: boolean;
}

/** The supervisor stays when `swath start` has ended, so the unit is active for as long as its processes are there. */
export function formatUnit({ cluster, state, isRoot }: UnitOptions): string {
  const program = quote(join(repositoryRoot, "bin/swath"));
  return `[Unit]
Description=Swath deployment ${cluster}
After=network-online.target
Wants=network-online.target

[Service]
Type=oneshot
RemainAfterExit=yes
Environment=${quote(`SWATH_STATE_DIR=${state}`)}
ExecStart=${program} start ${cluster}
ExecStop=${program} stop ${cluster}
TimeoutStartSec=10min
TimeoutStopSec=2min

[Install]
WantedBy=${isRoot ? "multi-user.target" : "default.target"}
`;
}

/** A word of a unit file (systemd.syntax), where percent signs are specifiers. */
function quote(word: string): string {
  return `"${word.replaceAll("%", "%%").replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;
}

function runSystemctl(words: readonly string[], env: NodeJS.ProcessEnv): void {
  const { status, stderr, error } = spawnSync("systemctl", words, { env, encoding: "utf8" });
  if (error !== undefined || status !== 0) {
    throw new CommandError(
      `systemctl ${words.join(" ")} failed: ${error?.message ?? stderr.trim()}; without systemd, let your init run: bin/swath start`,
    );
  }
}
