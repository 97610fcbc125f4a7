import { execFile } from "node:child_process";
import { promisify } from "node:util";

import type { Check } from "../finding.ts";

const TIMEOUT_MS = 10_000;
const ADVICE = "apt-get install bubblewrap";

/** Whether tools of application packages that run on this machine itself are kept to themselves. */
export const checkHostTools: Check = async ({ plan: { settings } }) => {
  const { REQUIRE_ADES: required, PROCESSING_HOST_TOOLS: desired } = settings.variables;
  if (!required || desired === "open" || desired === "refused") {
    return [];
  }
  const why = await noBubblewrapReason();
  if (why === undefined) {
    return [{ verdict: "good", subject: "isolation", found: "tools without a container run in bubblewrap" }];
  }
  return desired === "isolated"
    ? [
        {
          verdict: "bad",
          subject: "isolation",
          found: `PROCESSING_HOST_TOOLS=isolated, and bubblewrap ${why}`,
          meaning: "The processing service will not start.",
          advice: `${ADVICE}, or set PROCESSING_HOST_TOOLS to auto or refused.`,
        },
      ]
    : [
        {
          verdict: "limited",
          subject: "isolation",
          found: `bubblewrap ${why}`,
          meaning:
            "Tools whose packages name no container are refused: nothing would keep them from the rest of this machine.",
          advice: ADVICE,
        },
      ];
};

async function noBubblewrapReason(): Promise<string | undefined> {
  try {
    await promisify(execFile)("bwrap", ["--unshare-all", "--ro-bind", "/", "/", "--", "/bin/sh", "-c", ":"], {
      timeout: TIMEOUT_MS,
    });
    return undefined;
  } catch (error) {
    const { code, stderr, message } = error as NodeJS.ErrnoException & { stderr?: string };
    return code === "ENOENT"
      ? "is not installed"
      : `does not work here: ${(stderr?.trim() || message).split("\n").at(-1) ?? ""}`;
  }
}
