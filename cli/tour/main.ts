// deploy/simple/tour [<cluster-name>]
import { DEFAULT_CLUSTER, openTarget, readDeployedPlan } from "../targets/open-target.ts";
import { describeError } from "../describe-error.ts";
import { runTour } from "./tour.ts";

const USAGE = `Usage: tour [<cluster-name>]

Lives the whole story on what deploy/simple/simple has deployed, each step as the command that could be typed, with its answer: harvest
scenes, find one, look at it, run a package on a part of it, see the result in the own workspace, share it, open a notebook that reads it,
push a changed package to the registry and run it from there, and see all of it by the standards' interfaces. It can be run again.`;

const [argument] = process.argv.slice(2);
if (argument === "-h" || argument === "--help") {
  console.log(USAGE);
} else {
  try {
    const target = openTarget(argument, process.env);
    const plan = await readDeployedPlan(target);
    await runTour({ target, plan, name: argument ?? DEFAULT_CLUSTER, stdout: process.stdout, env: process.env });
  } catch (error) {
    console.error(`\n${describeError(error, process.env["SWATH_DEBUG"] === "true")}`);
    process.exitCode = 1;
  }
}
