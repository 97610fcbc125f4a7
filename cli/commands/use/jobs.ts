import { parseArgs } from "node:util";

import { type Job, jobAddress, processingOf, readJob } from "../../client/processing.ts";
import { PLATFORM_HELP, openSession, platformOption } from "../../client/session.ts";
import { formatTable } from "../../view/table.ts";
import { CommandError, type Command } from "../command.ts";
import { outputOption, wantsJson } from "../output-option.ts";

const USAGE = `
Usage: swath jobs [JOB] [options]

Lists your jobs, newest first, or shows one.

  --log       print what the job said
  --dismiss   end the job, or forget one that has ended
  --limit N   at most so many (default: 20)
  -o json     as JSON
${PLATFORM_HELP}`;

export const jobsCommand: Command = {
  name: "jobs",
  summary: "list jobs on a platform, show, read or end one",
  usage: USAGE,
  run: async ({ args, env, stdout }) => {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        log: { type: "boolean", default: false },
        dismiss: { type: "boolean", default: false },
        limit: { type: "string", default: "20" },
        ...outputOption,
        ...platformOption,
      },
    });
    const asJson = wantsJson(values);
    const [id] = positionals;
    if (id === undefined && (values.log || values.dismiss)) {
      throw new CommandError("which job? swath jobs lists them", 2);
    }
    const session = await openSession(env, values.platform);
    if (id === undefined) {
      const list = `${processingOf(session)}/jobs?limit=${encodeURIComponent(values.limit)}`;
      const { jobs } = (await (await session.request(list)).json()) as { jobs: readonly Job[] };
      stdout.write(
        asJson
          ? `${JSON.stringify(jobs, null, 2)}\n`
          : formatTable([["JOB", "PROCESS", "STATUS", "CREATED", "SECONDS"], ...jobs.map(toRow)]),
      );
      return 0;
    }
    if (values.dismiss) {
      await session.request(jobAddress(session, id), { method: "DELETE" });
      stdout.write(`dismissed ${id}\n`);
      return 0;
    }
    if (values.log) {
      const response = await session.request(`${jobAddress(session, id)}/logs`, { headers: { accept: "text/plain" } });
      stdout.write(await response.text());
      return 0;
    }
    const job = await readJob(session, id);
    stdout.write(asJson ? `${JSON.stringify(job, null, 2)}\n` : formatTable(toLines(job)));
    return 0;
  },
};

const toRow = (job: Job): readonly string[] => [job.jobID, job.processID, job.status, job.created, secondsOf(job)];

function toLines(job: Job): readonly (readonly string[])[] {
  return [
    ["job", job.jobID],
    ["process", job.processID],
    ["status", job.progress === undefined ? job.status : `${job.status}, ${job.progress} %`],
    ["message", job.message ?? ""],
    ["created", job.created],
    ["seconds", secondsOf(job)],
  ];
}

/** From its start to its end. */
function secondsOf({ started, finished }: Job): string {
  return started === undefined || finished === undefined
    ? ""
    : ((Date.parse(finished) - Date.parse(started)) / 1000).toFixed(1);
}
