/** Whether everything runs, as it does anywhere but in CI, whose time is short. */
export const isWhole = process.env["CI"] !== "true" || process.env["SWATH_TEST_WHOLE"] === "true";

/** Why a file that takes a deployment of its own is left out; `undefined` where it runs. */
export const whyLeftOut = (): string | undefined =>
  isWhole ? undefined : "it is left out in CI; SWATH_TEST_WHOLE=true runs it";
