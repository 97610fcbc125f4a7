import { Box } from "@mantine/core";
import { Awaited, request } from "@swath/ui";
import { useQuery } from "@tanstack/react-query";

import { artifactApi, toUrl } from "../api.ts";
import type { ArtifactPlace } from "./artifact-page.tsx";

/** The CWL document of an application package. */
export function PackageText({ place: { project, repository, digest } }: { readonly place: ArtifactPlace }) {
  const text = useQuery({
    queryKey: ["package", project, repository, digest],
    queryFn: async () => {
      const url = toUrl(artifactApi(project, repository, digest, "/additions/package"));
      return (await request(url, { headers: { "x-is-resource-name": "true" } })).text();
    },
    staleTime: Number.POSITIVE_INFINITY,
  });
  return (
    <Awaited query={text} what="Loading the package">
      {(cwl) => (
        <Box
          component="pre"
          m={0}
          mah={420}
          fz="sm"
          tabIndex={0}
          role="region"
          aria-label="Text of the package"
          style={{ overflow: "auto" }}
        >
          {cwl}
        </Box>
      )}
    </Awaited>
  );
}
