import { findIsolation } from "@swath/isolation";

import type { Check } from "../finding.ts";

const SUBJECT = "isolation";

/** Whether programs that run on this machine itself are kept to themselves: tried, since what is installed may be forbidden. */
export const checkHostTools: Check = ({ plan: { settings } }) => {
  const { REQUIRE_ADES: hasJobs, REQUIRE_APPLICATION_HUB: hasHub, PROCESSING_HOST_TOOLS: desired } = settings.variables;
  const isNeeded = (hasJobs && desired !== "open" && desired !== "refused") || hasHub;
  if (!isNeeded) {
    return [];
  }
  const report = findIsolation();
  if (report.works) {
    return [
      { verdict: "good", subject: SUBJECT, found: `programs without a container run in ${report.isolation.kind}` },
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
