import { findAccountMeans } from "../../targets/embedded/accounts/find-obstacle.ts";
import type { Check } from "../finding.ts";

const SUBJECT = "accounts";

/** Whether services get accounts of their own; those of an ordinary user all run as that user. */
export const checkAccounts: Check = () => {
  if (process.getuid?.() !== 0) {
    return [];
  }
  const means = findAccountMeans();
  if ("reason" in means) {
    return [
      {
        verdict: "limited",
        subject: SUBJECT,
        found: `services run as root: ${means.reason}`,
        meaning: "Whoever takes over one of them has the machine, and the data of all others.",
        advice: means.advice,
      },
    ];
  }
  return [{ verdict: "good", subject: SUBJECT, found: "each component runs as an account of its own" }];
};
