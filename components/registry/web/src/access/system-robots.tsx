import { Page } from "@swath/ui";

import { Robots } from "./robots.tsx";

/** Robots of the whole registry. */
export function Component() {
  return (
    <Page title="Robots" about="Accounts for programs that work in several projects.">
      <Robots />
    </Page>
  );
}
