// main.ts [<cluster-name>]: deploy/simple/simple runs it after an apply.
import { findIsolation } from "@swath/isolation";

import { openTarget, readDeployedPlan } from "../targets/open-target.ts";
import { describeError } from "../describe-error.ts";
import { runFirstJob } from "./run-first-job.ts";

const [argument] = process.argv.slice(2);
try {
  const target = openTarget(argument, process.env);
  const plan = await readDeployedPlan(target);
  const text = await runFirstJob({ target, plan, env: process.env });
  process.stdout.write(text);
} catch (error) {
  console.error(
    `\nThe platform runs, and its first job failed: ${describeError(error, process.env["SWATH_DEBUG"] === "true")}`,
  );
  // What this machine cannot do was said before the deployment began.
  process.exitCode = findIsolation().works ? 1 : 0;
}
