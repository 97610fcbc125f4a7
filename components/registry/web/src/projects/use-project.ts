import { type UseQueryResult, useQuery } from "@tanstack/react-query";
import { useOutletContext } from "react-router";

import { projectApi, read } from "../api.ts";
import type { Project } from "../types.ts";

export function useProject(name: string): UseQueryResult<Project> {
  return useQuery({ queryKey: ["project", name], queryFn: () => read<Project>(projectApi(name)) });
}

/** The project that a page is a part of. */
export function useThisProject(): Project {
  return useOutletContext<Project>();
}
