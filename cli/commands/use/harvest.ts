import { readFile } from "node:fs/promises";
import { parseArgs } from "node:util";

import { describe } from "../../helpers/admin-session.ts";
import { createTerminal } from "../../helpers/terminal.ts";
import {
  type RegistrationTask,
  describeListed,
  followTask,
  readProblems,
  readTask,
  reportTask,
} from "../../registration/follow-task.ts";
import { type RegistrationSession, openRegistration } from "../../registration/registration-session.ts";
import { formatTable } from "../../view/table.ts";
import { CommandError, type Command, type CommandContext } from "../command.ts";
import { outputOption, wantsJson } from "../output-option.ts";

const USAGE = `
Usage: swath harvest [list]              harvesters, when they run, what the last run brought
       swath harvest run NAME            runs a harvester now and follows it
       swath harvest remove NAME         forgets a harvester; what it brought stays
       swath harvest tasks               what was accepted, the latest first
       swath harvest show TASK           one task, with the records that could not be registered
       swath harvest repeat TASK|all     repeats what was set aside
       swath harvest cancel TASK         gives a task up

  --state STATE          of tasks: queued, running, done, failed (set aside), superseded, cancelled
  --limit N              tasks shown; default 20
  --url ADDRESS          repeats a task with another address
  --document FILE        repeats a task with another document (JSON)
  --no-wait              does not follow what was started
  --cluster NAME         the deployment
  --api ADDRESS          its registration API, where it is elsewhere
  --user NAME            operator; default: the deployment's administrator
  --password-file FILE   its password; default: the deployment's
  -o json

deploy/bin/harvest keeps the harvester of a configuration file.`;

export const harvestCommand: Command = {
  name: "harvest",
  summary: "list and run harvesters, see to what could not be registered",
  usage: USAGE,
  run: async (context) => {
    const { values, positionals } = parseArgs({
      args: [...context.args],
      allowPositionals: true,
      options: {
        ...outputOption,
        state: { type: "string" },
        limit: { type: "string", default: "20" },
        url: { type: "string" },
        document: { type: "string" },
        "no-wait": { type: "boolean", default: false },
        api: { type: "string" },
        cluster: { type: "string" },
        user: { type: "string" },
        "password-file": { type: "string" },
      },
    });
    const [action = "list", name, ...others] = positionals;
    const needsName = !["list", "tasks"].includes(action);
    if (others.length > 0 || needsName !== (name !== undefined)) {
      throw new CommandError(`what is to be done?\n${USAGE}`, 2);
    }
    const options: Options = { ...values, asJson: wantsJson(values), isWaiting: !values["no-wait"] };
    const session = await open(context, options);
    const actions: Readonly<Record<string, () => Promise<number>>> = {
      list: () => list(context, session, options),
      run: () => run(context, session, name ?? "", options),
      remove: () => remove(context, session, name ?? ""),
      tasks: () => listTasks(context, session, options),
      show: () => show(context, session, name ?? "", options),
      repeat: () => repeat(context, session, name ?? "", options),
      cancel: () => cancel(context, session, name ?? ""),
    };
    const chosen = actions[action];
    if (chosen === undefined) {
      throw new CommandError(`harvest knows ${Object.keys(actions).join(", ")}, not ${action}`, 2);
    }
    return chosen();
  },
};

interface Options {
  readonly asJson: boolean;
  readonly isWaiting: boolean;
  readonly state?: string | undefined;
  readonly limit?: string | undefined;
  readonly url?: string | undefined;
  readonly document?: string | undefined;
  readonly api?: string | undefined;
  readonly cluster?: string | undefined;
  readonly user?: string | undefined;
  readonly "password-file"?: string | undefined;
}

async function open({ args, env, stdin, stdout, stderr }: CommandContext, options: Options) {
  const { api, cluster, user, "password-file": file } = options;
  const terminal =
    stdin === undefined
      ? { ...createTerminal({ stdin: process.stdin, stderr }), isInteractive: false }
      : createTerminal({ stdin, stderr });
  return openRegistration(
    { args, env: cluster === undefined ? env : { ...env, SWATH_CLUSTER: cluster }, stdout, terminal },
    {
      url: api,
      user,
      ...(file !== undefined && { password: (await readFile(file, "utf8")).replace(/\r?\n$/, "") }),
      passwordOption: "--password-file",
    },
  );
}

/** @throws {CommandError} with the reason that the registration API gives */
async function send(session: RegistrationSession, method: string, path: string, body?: unknown): Promise<unknown> {
  const response = await session.request(method, path, body);
  if (response.status >= 300) {
    throw new CommandError(describe(response.status, response.body));
  }
  return response.body;
}

interface ShownHarvester {
  readonly name: string;
  readonly resource: { readonly type: string; readonly url: string };
  readonly schedule: string | null;
  readonly next_run: string | null;
  readonly last_run: RegistrationTask | null;
}

async function list({ stdout }: CommandContext, session: RegistrationSession, { asJson }: Options): Promise<number> {
  const body = (await send(session, "GET", "/harvesters")) as { harvesters: readonly ShownHarvester[] };
  stdout.write(
    asJson
      ? `${JSON.stringify(body.harvesters, null, 2)}\n`
      : formatTable([
          ["NAME", "TYPE", "SCHEDULE", "NEXT RUN", "TASK", "LAST RUN"],
          ...body.harvesters.map(({ name, resource, schedule, next_run: next, last_run: last }) => [
            name,
            resource.type,
            schedule ?? "on request",
            next ?? "-",
            last?.id ?? "-",
            last === null ? "-" : describeListed(last),
          ]),
        ]),
  );
  return 0;
}

async function run(
  context: CommandContext,
  session: RegistrationSession,
  name: string,
  options: Options,
): Promise<number> {
  return follow(
    context,
    session,
    await session.accept(`/harvesters/${encodeURIComponent(name)}/run`, undefined),
    options,
  );
}

async function follow(
  { stdout, stderr }: CommandContext,
  session: RegistrationSession,
  id: string,
  { isWaiting, asJson }: Options,
): Promise<number> {
  const task = isWaiting
    ? await followTask(session, id, (text) => stderr.write(`${text}\n`))
    : await readTask(session, id);
  stdout.write(asJson ? `${JSON.stringify(task, null, 2)}\n` : await reportTask(session, task));
  return task.state === "failed" ? 1 : 0;
}

async function remove({ stdout }: CommandContext, session: RegistrationSession, name: string): Promise<number> {
  await send(session, "DELETE", `/harvesters/${encodeURIComponent(name)}`);
  stdout.write(`removed harvester ${name}\n`);
  return 0;
}

async function listTasks(
  { stdout }: CommandContext,
  session: RegistrationSession,
  { state, limit = "20", asJson }: Options,
): Promise<number> {
  const query = new URLSearchParams({ limit, ...(state !== undefined && { state }) });
  const { tasks } = (await send(session, "GET", `/tasks?${query.toString()}`)) as {
    tasks: readonly RegistrationTask[];
  };
  stdout.write(
    asJson
      ? `${JSON.stringify(tasks, null, 2)}\n`
      : formatTable([
          ["TASK", "KIND", "WORKSPACE", "ACCEPTED", "PROGRESS", "WHAT"],
          ...tasks.map((task) => [
            task.id,
            task.kind,
            task.workspace ?? "-",
            task.created_at,
            describeListed(task),
            describeRequest(task),
          ]),
        ]),
  );
  return 0;
}

function describeRequest({ request }: RegistrationTask): string {
  const { url, harvester, identifier, document } = request as Readonly<Record<string, unknown>>;
  const id = (document as { id?: unknown } | undefined)?.id;
  return [harvester, url, identifier, id].find((value): value is string => typeof value === "string") ?? "-";
}

async function show(
  { stdout }: CommandContext,
  session: RegistrationSession,
  id: string,
  { asJson }: Options,
): Promise<number> {
  const task = await readTask(session, id);
  const problems = await readProblems(session, id);
  stdout.write(
    asJson
      ? `${JSON.stringify({ ...task, problems }, null, 2)}\n`
      : `task ${id}  ${task.kind}  ${describeRequest(task)}\n${describeListed(task)}, attempts: ${task.attempts}\n${
          task.reason === null ? "" : `${task.reason}\n`
        }${formatTable(problems.map(({ record, reason }) => [record, reason]))}`,
  );
  return 0;
}

async function repeat(
  context: CommandContext,
  session: RegistrationSession,
  id: string,
  options: Options,
): Promise<number> {
  if (id === "all") {
    const { repeated } = (await send(session, "POST", "/tasks/repeat", {})) as { repeated: number };
    context.stdout.write(`${repeated} tasks are repeated\n`);
    return 0;
  }
  const { url, document } = options;
  await send(session, "POST", `/tasks/${encodeURIComponent(id)}/repeat`, {
    ...(url !== undefined && { url }),
    ...(document !== undefined && { document: JSON.parse(await readFile(document, "utf8")) as unknown }),
  });
  return follow(context, session, id, options);
}

async function cancel({ stdout }: CommandContext, session: RegistrationSession, id: string): Promise<number> {
  await send(session, "DELETE", `/tasks/${encodeURIComponent(id)}`);
  stdout.write(`task ${id} is cancelled\n`);
  return 0;
}
