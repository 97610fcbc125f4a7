// The supervisor of one embedded cluster: `main.ts <cluster>`, started by the command-line tool, which waits for its
// control socket. What it says goes to supervisor.log in the cluster's folder of logs.
import { listen } from "@swath/service/listen";
import { createLogger } from "@swath/service/log";

import { compileServices } from "../accounts/compiled-code.ts";
import { openServiceAccounts } from "../accounts/service-accounts.ts";
import { createCodeVersions } from "../launch/code-version.ts";
import { createControlKey } from "../state/control-key.ts";
import { StateFileError } from "../state/json-file.ts";
import { clusterPaths } from "../state/paths.ts";
import { prepareDirectories } from "../state/prepare-directories.ts";
import { createControlServer } from "./control-server.ts";
import { NameTakenError, acquireLock } from "./single-instance.ts";
import { createStatusServer } from "./status-server.ts";
import { Supervisor } from "./supervisor.ts";

const [cluster] = process.argv.slice(2);
const logger = createLogger("supervisor", process.env["LOG_LEVEL"]);
if (cluster === undefined) {
  logger.fatal("usage: main.ts <cluster>");
  process.exit(2);
}

try {
  const paths = clusterPaths(cluster, process.env);
  prepareDirectories(paths);
  await acquireLock(`supervisor/${paths.id}`);
  const accounts = openServiceAccounts(paths, (reason) => logger.warn({ reason }, "services run as root"));
  if (accounts !== undefined) {
    // Folders that accounts pass through need the modes that they are made with; what is private is made so by its own mode.
    process.umask(0o022);
  }
  const supervisor = new Supervisor({ paths, accounts, logger });
  await supervisor.start();
  const codeVersion = createCodeVersions()("cli");
  const exit = () => process.exit(0);
  const key = createControlKey(paths);
  accounts?.numbers.takeOver(key);
  await listen(createControlServer({ supervisor, logger, codeVersion, key, exit }), { path: paths.controlSocket });
  await listen(createStatusServer({ supervisor, paths, logger }), {
    path: paths.statusSocket,
    ...(accounts !== undefined && { group: accounts.statusGroup }),
  });
  logger.info({ pid: process.pid, cluster }, "supervisor started");
  if (accounts !== undefined) {
    compileServices();
  }

  // Asked to end, it leaves the pods running: the next supervisor takes them over.
  const handOver = () => {
    supervisor.release();
    exit();
  };
  process.on("SIGTERM", handOver);
  process.on("SIGINT", handOver);
} catch (error) {
  if (error instanceof NameTakenError) {
    logger.info("another supervisor runs already");
    process.exit(0);
  }
  logger.fatal({ err: error }, "the supervisor could not start");
  // The tool shows the last line of the log; a damaged state file deserves its own status.
  process.exit(error instanceof StateFileError ? 65 : 1);
}
