import { useThisProject } from "../projects/use-project.ts";
import { Robots } from "./robots.tsx";

/** Robots of a project. */
export function Component() {
  return <Robots project={useThisProject()} />;
}
