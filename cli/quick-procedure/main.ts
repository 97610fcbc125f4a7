// deploy/simple/quick-procedure [<cluster-name>]
import { openTarget, readDeployedPlan } from "../targets/open-target.ts";
import { describeError } from "../describe-error.ts";
import { runQuickProcedure } from "./procedure.ts";

const USAGE = `Usage: quick-procedure [<cluster-name>]

Runs the quick procedure on what deploy/simple/simple has deployed: a scene into the object store, an application package
into the processing service, a job, its result. Prints each request as the curl command that does the same, and the answer.`;

const [argument] = process.argv.slice(2);
if (argument === "-h" || argument === "--help") {
  console.log(USAGE);
} else {
  try {
    const target = openTarget(argument, process.env);
    const plan = await readDeployedPlan(target);
    await runQuickProcedure({ target, plan, stdout: process.stdout, env: process.env });
  } catch (error) {
    console.error(describeError(error, process.env["SWATH_DEBUG"] === "true"));
    process.exitCode = 1;
  }
}
