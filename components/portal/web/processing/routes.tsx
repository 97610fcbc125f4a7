import { Empty, Page } from "@swath/ui";
import type { RouteObject } from "react-router";

/** The addresses below `/processing`. */
export function processingRoutes(): RouteObject[] {
  return [
    {
      path: "*",
      element: (
        <Page title="Processing">
          <Empty title="Nothing here yet">These pages come with the next version.</Empty>
        </Page>
      ),
    },
  ];
}
