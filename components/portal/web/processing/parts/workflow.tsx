import { VisuallyHidden } from "@mantine/core";
import { Loading } from "@swath/ui";
import { type ComponentProps, Suspense } from "react";

import { describeGraph } from "../model/workflow-graph.ts";
import { WorkflowPicture } from "./lazy-parts.tsx";

/** The picture of a workflow, and the same in words for those who do not see it. */
export function Workflow(props: ComponentProps<typeof WorkflowPicture>) {
  return (
    <section aria-label="Workflow">
      <VisuallyHidden component="div">
        <p>The steps of the workflow:</p>
        <ul>
          {describeGraph(props.graph).map((text) => (
            <li key={text}>{text}</li>
          ))}
        </ul>
      </VisuallyHidden>
      <Suspense fallback={<Loading what="Drawing the workflow" />}>
        <WorkflowPicture {...props} />
      </Suspense>
    </section>
  );
}
