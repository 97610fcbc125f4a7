import { join } from "node:path";
import { parseArgs } from "node:util";

import { type SealedLine, type TrailHead, readHead, readTrail, verifyTrail } from "@swath/postgres/audit";

import { type OpenTrail, openTrail } from "../../audit/open-trail.ts";
import { toSyslog } from "../../audit/to-syslog.ts";
import { readJsonFile, writeJsonFile } from "../../targets/embedded/state/json-file.ts";
import { stateRoot } from "../../targets/embedded/state/paths.ts";
import { formatTable } from "../../view/table.ts";
import { CommandError, type Command } from "../command.ts";
import { DEFAULT_CLUSTER, openTarget, readDeployedPlan } from "../../targets/open-target.ts";

const MAX_LISTED = 10_000;

export const auditCommand: Command = {
  name: "audit",
  summary: "search, verify or export the record of who did what",
  usage: `
Usage: swath audit list [CLUSTER] [--actor WHO] [--action TEXT] [--last N]
       swath audit verify [CLUSTER]
       swath audit export [CLUSTER] [--format jsonl|syslog] [--after N]

  list     prints the last entries (50, or N), the newest last; WHO is a user's id or name, TEXT a part of the action
  verify   follows the chain of hashes from the first line to the last: a line that was changed, put in or taken out is found, with
           its number, and the command ends with 1. What was verified last is kept on this machine, so that a trail that was cut off
           at its end is found as well
  export   writes all lines, or those after N, to standard output: JSON lines with their hashes, or syslog messages (RFC 5424)

Logins, changes of rights and keys, tokens, deletions, and what administrators and operators do.`,
  run: async ({ args, env, stdout }) => {
    const [action = "", ...rest] = args;
    const { values, positionals } = parseArgs({
      args: rest,
      allowPositionals: true,
      options: {
        actor: { type: "string" },
        action: { type: "string" },
        last: { type: "string" },
        format: { type: "string" },
        after: { type: "string" },
      },
    });
    const cluster = positionals[0] ?? DEFAULT_CLUSTER;
    if (!["list", "verify", "export"].includes(action)) {
      throw new CommandError("what should be done with the audit trail? list, verify or export", 2);
    }
    if (!["jsonl", "syslog"].includes(values.format ?? "jsonl")) {
      throw new CommandError(`format "${values.format}" is not known; allowed: jsonl, syslog`, 2);
    }
    const target = openTarget(cluster, env);
    const trail = await openTrail(target, await readDeployedPlan(target));
    try {
      await sealAll(trail);
      switch (action) {
        case "list":
          stdout.write(await list(trail, { ...values, last: readCount(values.last, "--last", 50) }));
          return 0;
        case "export":
          for await (const entry of readTrail(asPool(trail), readCount(values.after, "--after", 0))) {
            stdout.write(values.format === "syslog" ? toSyslog(entry, cluster) : toJsonLine(entry));
          }
          return 0;
        default:
          return await verify(trail, join(stateRoot(env), "audit", `${cluster}.json`), (text) => stdout.write(text));
      }
    } finally {
      await trail.close();
    }
  },
};

async function verify(trail: OpenTrail, file: string, print: (text: string) => void): Promise<number> {
  const known = readJsonFile<TrailHead>(file);
  const head = await readHead(asPool(trail));
  const damage = await verifyTrail(upTo(head.n, readTrail(asPool(trail))), head, known);
  if (damage !== undefined) {
    print(`the audit trail is damaged: ${damage.problem}\n`);
    return 1;
  }
  const { mkdirSync } = await import("node:fs");
  mkdirSync(join(file, ".."), { recursive: true, mode: 0o700 });
  writeJsonFile(file, head);
  print(`${head.n} lines are as they were written; the last one has the hash ${head.hash || "of nothing"}\n`);
  return 0;
}

/** What is written meanwhile is for the next time. */
async function* upTo(n: number, lines: AsyncIterable<SealedLine>): AsyncGenerator<SealedLine> {
  for await (const entry of lines) {
    if (entry.n > n) {
      return;
    }
    yield entry;
  }
}

async function list(
  trail: OpenTrail,
  { actor, action, last }: { readonly actor?: string; readonly action?: string; readonly last: number },
): Promise<string> {
  const { rows } = await trail.query<{ line: string }>(
    `select line from audit.entry where ($1::text is null or actor = $1 or line::jsonb ->> 'actorName' = $1)
       and ($2::text is null or action ilike '%' || $2 || '%') order by n desc limit $3`,
    [actor ?? null, action ?? null, Math.min(last, MAX_LISTED)],
  );
  const entries = rows.map(({ line }) => JSON.parse(line) as Record<string, unknown>).toReversed();
  const text = (value: unknown) => (typeof value === "string" || typeof value === "number" ? String(value) : "");
  return entries.length === 0
    ? "no entry fits\n"
    : formatTable([
        ["N", "AT", "SERVICE", "ACTOR", "ACTION", "TARGET"],
        ...entries.map(({ n, at, service, actor: who, actorName, action: what, target }) => [
          text(n),
          text(at),
          text(service),
          text(actorName ?? who),
          text(what),
          text(target),
        ]),
      ]);
}

async function sealAll(trail: OpenTrail): Promise<void> {
  for (let sealed = 1; sealed > 0;) {
    const { rows } = await trail.query<{ sealed: number }>("select audit.seal() as sealed");
    sealed = rows[0]?.sealed ?? 0;
  }
}

const toJsonLine = ({ line, hash }: SealedLine): string =>
  `${JSON.stringify({ ...(JSON.parse(line) as object), hash })}\n`;

const asPool = (trail: OpenTrail) => trail as unknown as Parameters<typeof readHead>[0];

function readCount(text: string | undefined, option: string, fallback: number): number {
  const count = text === undefined ? fallback : Number(text);
  if (!Number.isSafeInteger(count) || count < 0) {
    throw new CommandError(`${option} must be a whole number, not ${JSON.stringify(text)}`, 2);
  }
  return count;
}
