import { execFile } from "node:child_process";
import { promisify } from "node:util";

import type { Check, Finding } from "../finding.ts";

const ENGINES = ["podman", "docker"];
const TIMEOUT_MS = 20_000;
const REFUSED =
  "Application packages whose tools require a container (DockerRequirement) are refused; the examples also run without.";

/** Whether tools of application packages can run in containers here. */
export const checkContainerEngine: Check = async ({ plan }) => {
  if (!plan.settings.variables.REQUIRE_ADES) {
    return [];
  }
  const desired = plan.settings.variables.CONTAINER_ENGINE;
  if (desired === "none") {
    return [
      {
        verdict: "good",
        subject: "containers",
        found: "none are wanted (CONTAINER_ENGINE=none)",
        meaning: REFUSED,
      },
    ];
  }
  if (desired !== "auto") {
    return [await checkWanted(desired)];
  }
  const broken: string[] = [];
  for (const engine of ENGINES) {
    const response = await send(engine);
    if (response.kind === "works") {
      return [{ verdict: "good", subject: "containers", found: `${engine} ${response.version}` }];
    }
    if (response.kind === "broken") {
      broken.push(`${engine}: ${response.reason}`);
    }
  }
  return [
    {
      verdict: "limited",
      subject: "containers",
      found: broken.length === 0 ? `none of ${ENGINES.join(", ")} is installed` : broken.join("; "),
      meaning: REFUSED,
      advice: broken.length === 0 ? "apt-get install podman" : `${broken[0]?.split(":")[0]} info says more`,
    } satisfies Finding,
  ];
};

/** An engine that the operator asked for: without it the processing service does not start. */
async function checkWanted(engine: string): Promise<Finding> {
  const response = await send(engine);
  if (response.kind === "works") {
    return { verdict: "good", subject: "containers", found: `${engine} ${response.version}` };
  }
  return {
    verdict: "bad",
    subject: "containers",
    found: `CONTAINER_ENGINE=${engine}, ${response.kind === "missing" ? "which is not installed" : `which does not work: ${response.reason}`}`,
    meaning: "Tools that run in containers will not run.",
    advice: "Install it, or set CONTAINER_ENGINE to auto, none, podman, docker or the path of one.",
  };
}

type ServiceResponse =
  | { readonly kind: "works"; readonly version: string }
  | { readonly kind: "broken"; readonly reason: string }
  | { readonly kind: "missing" };

async function send(engine: string): Promise<ServiceResponse> {
  const format = /docker[^/]*$/.test(engine) ? "{{.ServerVersion}}" : "{{.Version.Version}}";
  try {
    const { stdout } = await promisify(execFile)(engine, ["info", "--format", format], { timeout: TIMEOUT_MS });
    return { kind: "works", version: stdout.trim() };
  } catch (error) {
    const { code, stderr, message } = error as NodeJS.ErrnoException & { stderr?: string };
    return code === "ENOENT"
      ? { kind: "missing" }
      : { kind: "broken", reason: (stderr?.trim() || message).split("\n").at(-1) ?? "" };
  }
}
