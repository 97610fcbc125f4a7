import { isWorkspaceName } from "@swath/manifest";
import { parseArgs } from "node:util";

import { PLATFORM_HELP, type Session, openSession, platformOption } from "../../client/session.ts";
import { type Member, readWorkspace } from "../../client/workspaces.ts";
import { formatTable } from "../../view/table.ts";
import { CommandError, type Command } from "../command.ts";
import { outputOption, wantsJson } from "../output-option.ts";

const USAGE = `
Usage: swath share [WORKSPACE] [USER …] [options]

Lets others into one of your workspaces: its files, its part of the catalogue, its maps. Without a user it lists who is in.

  --write       they may write, too (default: read)
  --remove      they may no more
  -o json       as JSON
${PLATFORM_HELP}

Without WORKSPACE (a name that begins with ws-): your own.`;

export const shareCommand: Command = {
  name: "share",
  summary: "let others read or write in a workspace, or list who may",
  usage: USAGE,
  run: async ({ args, env, stdout }) => {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        write: { type: "boolean", default: false },
        remove: { type: "boolean", default: false },
        ...outputOption,
        ...platformOption,
      },
    });
    const asJson = wantsJson(values);
    if (values.write && values.remove) {
      throw new CommandError("--write and --remove contradict each other", 2);
    }
    const session = await openSession(env, values.platform);
    const isNamed = isWorkspaceName(positionals[0] ?? "");
    const { name, members } = await readWorkspace(session, isNamed ? positionals[0] : undefined);
    const users = positionals.slice(isNamed ? 1 : 0);
    if (users.length === 0 && (values.write || values.remove)) {
      throw new CommandError(`who?\n${USAGE}`, 2);
    }
    const changed = users.length === 0 ? members : toChanged(members, users, values);
    if (users.length > 0) {
      await save(session, name, changed);
    }
    stdout.write(
      asJson
        ? `${JSON.stringify({ name, members: changed }, null, 2)}\n`
        : formatTable([["WORKSPACE", "USER", "ROLE"], ...changed.map(({ username, role }) => [name, username, role])]),
    );
    return 0;
  },
};

function toChanged(
  members: readonly Member[],
  users: readonly string[],
  { write, remove }: { readonly write: boolean; readonly remove: boolean },
): readonly Member[] {
  const stranger = remove ? users.find((user) => !members.some(({ username }) => username === user)) : undefined;
  const owner = members.find(({ username, role }) => role === "owner" && users.includes(username));
  if (stranger !== undefined || owner !== undefined) {
    throw new CommandError(
      owner === undefined ? `${stranger} is no member` : `${owner.username} is the owner, which cannot be changed`,
    );
  }
  const others = members.filter(({ username }) => !users.includes(username));
  return remove
    ? others
    : [...others, ...[...new Set(users)].map((username) => ({ username, role: write ? "writer" : "reader" }) as const)];
}

async function save(session: Session, name: string, members: readonly Member[]): Promise<void> {
  await session.request(`${session.address("workspace-api")}/workspaces/${encodeURIComponent(name)}`, {
    method: "PATCH",
    json: { members: members.filter(({ role }) => role !== "owner") },
  });
}
