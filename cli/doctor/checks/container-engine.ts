import { execFile } from "node:child_process";
import { promisify } from "node:util";

import type { Check, Finding } from "../finding.ts";

const ENGINES = ["podman", "docker"];
const PATIENCE_MS = 20_000;

/** Whether tools of application packages can run in containers here. */
export const checkContainerEngine: Check = async ({ plan }) => {
  if (!plan.settings.variables.REQUIRE_ADES) {
    return [];
  }
  const broken: string[] = [];
  for (const engine of ENGINES) {
    const answer = await ask(engine);
    if (answer.kind === "works") {
      return [{ verdict: "good", subject: "containers", found: `${engine} ${answer.version}` }];
    }
    if (answer.kind === "broken") {
      broken.push(`${engine}: ${answer.reason}`);
    }
  }
  return [
    {
      verdict: "limited",
      subject: "containers",
      found: broken.length === 0 ? `none of ${ENGINES.join(", ")} is installed` : broken.join("; "),
      meaning:
        "Application packages whose tools require a container (DockerRequirement) are refused; the examples also run without.",
      advice: broken.length === 0 ? "apt-get install podman" : `${broken[0]?.split(":")[0]} info says more`,
    } satisfies Finding,
  ];
};

type Answer =
  | { readonly kind: "works"; readonly version: string }
  | { readonly kind: "broken"; readonly reason: string }
  | { readonly kind: "missing" };

async function ask(engine: string): Promise<Answer> {
  const format = engine === "podman" ? "{{.Version.Version}}" : "{{.ServerVersion}}";
  try {
    const { stdout } = await promisify(execFile)(engine, ["info", "--format", format], { timeout: PATIENCE_MS });
    return { kind: "works", version: stdout.trim() };
  } catch (error) {
    const { code, stderr, message } = error as NodeJS.ErrnoException & { stderr?: string };
    return code === "ENOENT"
      ? { kind: "missing" }
      : { kind: "broken", reason: (stderr?.trim() || message).split("\n").at(-1) ?? "" };
  }
}
