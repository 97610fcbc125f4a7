import { lazy } from "react";

// Editor, graph and map are large, and each page needs at most one of them at once.
export const CwlEditor = lazy(async () => ({ default: (await import("./cwl-editor.tsx")).CwlEditor }));
export const WorkflowPicture = lazy(async () => ({
  default: (await import("./workflow-picture.tsx")).WorkflowPicture,
}));
