import { findIsolation } from "@swath/isolation";

import type { Check, Finding } from "../finding.ts";

const SUBJECT = "isolation";

/** The kernel limits open files, and the size of a file. */
const WATCHED = "the services watch their memory, processes and disk";

const UNFILTERED: Finding = {
  verdict: "limited",
  subject: SUBJECT,
  found: "calls of the kernel are not filtered",
  meaning:
    "Programs of strangers reach parts of the kernel that containers do not reach; everything else of the sandbox holds.",
  advice: "apt-get install bubblewrap",
};

/** Whether programs that run on this machine itself are kept to themselves: tried, since what is installed may be forbidden. */
export const checkHostTools: Check = ({ plan: { settings } }) => {
  const { REQUIRE_ADES: hasJobs, REQUIRE_APPLICATION_HUB: hasHub, PROCESSING_HOST_TOOLS: desired } = settings.variables;
  const isNeeded = (hasJobs && desired !== "open" && desired !== "refused") || hasHub;
  if (!isNeeded) {
    return [];
  }
  const report = findIsolation();
  if (report.works) {
    const { kind, filtersSystemCalls } = report.isolation;
    return [
      { verdict: "good", subject: SUBJECT, found: `programs without a container run in ${kind}; ${WATCHED}` },
      ...(filtersSystemCalls ? [] : [UNFILTERED]),
    ];
  }
  return hasJobs && desired === "isolated"
    ? [
        {
          verdict: "bad",
          subject: SUBJECT,
          found: `PROCESSING_HOST_TOOLS=isolated, and ${report.reason}`,
          meaning: "The processing service will not start.",
          advice: `${report.command}, or set PROCESSING_HOST_TOOLS to auto or refused`,
        },
      ]
    : [
        {
          verdict: "limited",
          subject: SUBJECT,
          found: report.reason,
          meaning:
            "Application packages whose tools name no container are refused, and servers of the application hub need one: nothing would keep them from the rest of this machine.",
          advice: report.command,
        },
      ];
};
