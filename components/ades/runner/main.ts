// Carries one job out: node runner/main.ts <job id>. A process of its own, so that a tool's appetite, a fault or a kill ends
// this job's attempt and nothing else. SIGTERM stops the job's tools and leaves its journal.
import { openDatabase } from "@swath/postgres";
import { createLogger, loadSettings } from "@swath/service";

import { settings as definitions } from "../config.ts";
import { runJob } from "../execution/run-job.ts";
import { LEASE_SECONDS, renewLease } from "../store/jobs.ts";
import type { Tables } from "../store/tables.ts";

// oxlint-disable-next-line node/no-process-env -- a program of its own; the one place where it reads its environment
const env = process.env;
const logger = createLogger("ades-runner", env["LOG_LEVEL"] ?? "info");
const settings = loadSettings(definitions, env);
const [id = ""] = process.argv.slice(2);
const { db, close } = await openDatabase<Tables>({
  url: settings.DATABASE_URL,
  schema: "ades",
  connections: 3,
  onError: (error) => logger.warn({ err: error }, "a database connection broke"),
});
const job = await db.selectFrom("job").selectAll().where("id", "=", id).executeTakeFirst();
if (job?.status === "running") {
  const stop = new AbortController();
  process.on("SIGTERM", () => stop.abort(new Error("the job was stopped")));
  const keep = setInterval(
    () =>
      void renewLease(db, id, job.attempts).then(
        (isOurs) => isOurs || stop.abort(new Error("the job is somebody else's now")),
        (error: unknown) => logger.warn({ job: id, err: error }, "cannot keep the job; trying again"),
      ),
    (LEASE_SECONDS * 1000) / 6,
  );
  try {
    await runJob(job, { db, settings, logger, signal: stop.signal });
  } catch (error) {
    logger.info({ job: id, err: error }, "stopped a job");
    process.exitCode = 75;
  }
  clearInterval(keep);
}
await close();
