// curl for the commands of the tour, on machines that have none: the options that the story types, through the client of the deployment.
import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";

import { describeError } from "../../describe-error.ts";
import { openTarget, readDeployedPlan } from "../../targets/open-target.ts";
import { createDeploymentFetch } from "../../targets/deployment-fetch.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    fail: { type: "boolean", short: "f" },
    silent: { type: "boolean", short: "s" },
    "show-error": { type: "boolean", short: "S" },
    header: { type: "string", short: "H", multiple: true, default: [] },
    output: { type: "string", short: "o" },
    "write-out": { type: "string", short: "w", default: "" },
  },
});
try {
  await request(positionals[0] ?? "");
} catch (error) {
  console.error(`curl: ${describeError(error, false)}`);
  process.exitCode = 7;
}

async function request(url: string): Promise<void> {
  const target = openTarget(process.env["TOUR_CLUSTER"], process.env);
  const { settings } = await readDeployedPlan(target);
  const fetch = createDeploymentFetch(settings.domain, await target.readAccess());
  const headers = values.header.map((line): [string, string] => {
    const colon = line.indexOf(":");
    return [line.slice(0, colon), line.slice(colon + 1).trim()];
  });
  const response = await fetch(url, { headers, redirect: "manual" });
  if (values.fail === true && response.status >= 400) {
    console.error(`curl: (22) The requested URL returned error: ${response.status}`);
    process.exitCode = 22;
    return;
  }
  const body = Buffer.from(await response.arrayBuffer());
  if (values.output === undefined) {
    process.stdout.write(body);
  } else {
    writeFileSync(values.output, body);
  }
  const facts: Readonly<Record<string, string>> = {
    http_code: String(response.status),
    content_type: response.headers.get("content-type") ?? "",
    size_download: String(body.length),
  };
  const text = values["write-out"].replaceAll(String.raw`\n`, "\n");
  process.stdout.write(text.replace(/%\{(\w+)\}/g, (_, name: string) => facts[name] ?? ""));
}
