import { readFileSync } from "node:fs";
import { arch, availableParallelism, platform, release } from "node:os";

import type { Check } from "../finding.ts";

const PLATFORMS = ["linux-x64", "linux-arm64"];
const OPEN_FILES = 1024;

/** Operating system, processors, Node.js, limits of this user's processes. */
export const checkMachine: Check = () => {
  const kind = `${platform()}-${arch()}`;
  const cores = availableParallelism();
  const found = `${platform()} ${release()} ${arch()}, ${cores} ${cores === 1 ? "core" : "cores"}, Node.js ${process.versions.node}`;
  const files = readOpenFilesLimit();
  return [
    PLATFORMS.includes(kind)
      ? cores > 1
        ? { verdict: "good", subject: "machine", found }
        : {
            verdict: "limited",
            subject: "machine",
            found,
            meaning: "The platform works, but a job that runs slows everything else down.",
          }
      : {
          verdict: "bad",
          subject: "machine",
          found,
          meaning: `The database server and the pinned Node.js come for ${PLATFORMS.join(" and ")} only.`,
          advice: "Use such a machine, or deploy on a Kubernetes cluster that has such nodes.",
        },
    ...(files !== undefined && files < OPEN_FILES
      ? [
          {
            verdict: "limited" as const,
            subject: "open files",
            found: `a process may have ${files} at once`,
            meaning: "Services refuse connections when many people come at once.",
            advice: "ulimit -n 4096 before apply, or raise nofile in /etc/security/limits.conf",
          },
        ]
      : []),
  ];
};

/** The soft limit; undefined where it is not known or there is none. */
function readOpenFilesLimit(): number | undefined {
  try {
    const [, limit] = /^Max open files\s+(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8")) ?? [];
    return limit === undefined ? undefined : Number(limit);
  } catch {
    // Not Linux, which the check above reports.
    return undefined;
  }
}
