import { existsSync } from "node:fs";
import { networkInterfaces } from "node:os";

import type { Check, Finding } from "../finding.ts";

/** Of Debian 10 and RHEL 8; the pinned Node.js loads with no older one. */
const MIN_GLIBC = [2, 28] as const;
const TIME_ZONES = "/usr/share/zoneinfo";

/** What of the system the platform's programs are linked to or read: C library, time zones, IPv6. */
export const checkSystem: Check = () => [...checkLibrary(), ...checkTimeZones(), ...checkIpv6()];

function checkLibrary(): readonly Finding[] {
  const { header } = process.report.getReport() as unknown as {
    readonly header: { readonly glibcVersionRuntime?: string };
  };
  const version = header.glibcVersionRuntime;
  const [major = 0, minor = 0] = (version ?? "").split(".").map(Number);
  const isNew = major > MIN_GLIBC[0] || (major === MIN_GLIBC[0] && minor >= MIN_GLIBC[1]);
  return isNew
    ? [{ verdict: "good", subject: "C library", found: `glibc ${version}` }]
    : [
        {
          verdict: "bad",
          subject: "C library",
          found: version === undefined ? "this Node.js is not linked to glibc" : `glibc ${version}`,
          meaning: `The database server and the image libraries need glibc ${MIN_GLIBC.join(".")} or newer.`,
          advice: "Use Debian 10, Ubuntu 20.04, RHEL 8, Fedora or newer; not Alpine.",
        },
      ];
}

/** The database and Node.js bring their own; users' programs in sandboxes read the system's. */
function checkTimeZones(): readonly Finding[] {
  return existsSync(TIME_ZONES)
    ? []
    : [
        {
          verdict: "limited",
          subject: "time zones",
          found: `there is no ${TIME_ZONES}`,
          meaning:
            "Tools of jobs and notebooks that name a time zone know UTC alone; the platform itself does not need it.",
          advice: "apt-get install tzdata",
        },
      ];
}

function checkIpv6(): readonly Finding[] {
  const has = Object.values(networkInterfaces()).some((entries) => entries?.some(({ family }) => family === "IPv6"));
  return has
    ? []
    : [{ verdict: "good", subject: "IPv6", found: "this machine has none; the platform listens on IPv4 alone" }];
}
