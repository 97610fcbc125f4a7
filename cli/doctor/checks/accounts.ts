import { findAccountMeans } from "../../targets/embedded/accounts/find-obstacle.ts";
import { confinesSandboxes } from "../../targets/embedded/accounts/service-accounts.ts";
import type { Check } from "../finding.ts";

const SUBJECT = "accounts";

/** Whether services get accounts of their own; those of an ordinary user all run as that user. */
export const checkAccounts: Check = ({ plan }) => {
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
  const asRoot = confinesSandboxes(plan, means)
    ? []
    : plan.workloads.filter(({ account }) => account === "sandbox").map(({ name }) => name);
  const but = asRoot.length === 0 ? "" : `; ${asRoot.join(", ")} as root, for sandboxes and containers`;
  return [{ verdict: "good", subject: SUBJECT, found: `each component runs as an account of its own${but}` }];
};
