import { Alert, Stack, Tabs } from "@mantine/core";
import { Awaited, Empty, Loading } from "@swath/ui";
import { useQuery } from "@tanstack/react-query";
import { PackageOpen } from "lucide-react";
import { Suspense, lazy } from "react";

import type { Job } from "../api/processing-client.ts";
import { MAX_ITEMS, resultQuery, useProcessing } from "../api/processing.ts";
import { FileList } from "./file-list.tsx";
import { OutputValues } from "./output-values.tsx";

const ResultMap = lazy(async () => ({ default: (await import("./result-map.tsx")).ResultMap }));

/** What came of a job: scenes on a map, files, plain values. */
export function JobResults({ job }: { readonly job: Job }) {
  const client = useProcessing();
  const result = useQuery(resultQuery(client, job.jobID));
  return (
    <Awaited query={result} what="Reading the results">
      {({ files, outputs, items, itemCount }) => {
        if (files.length === 0) {
          return Object.keys(outputs).length === 0 ? (
            <Empty title="The job gave nothing" icon={PackageOpen} />
          ) : (
            <OutputValues outputs={outputs} />
          );
        }
        return items.length === 0 ? (
          <FileList job={job.jobID} files={files} />
        ) : (
          <Tabs defaultValue="map" keepMounted={false} variant="outline">
            <Tabs.List aria-label="Results" mb="md">
              <Tabs.Tab value="map">Map</Tabs.Tab>
              <Tabs.Tab value="files">Files</Tabs.Tab>
            </Tabs.List>
            <Tabs.Panel value="map">
              <Stack>
                {itemCount > MAX_ITEMS && (
                  <Alert variant="light">
                    The first {MAX_ITEMS} of {itemCount} scenes are shown; the files of all are in the list.
                  </Alert>
                )}
                <Suspense fallback={<Loading what="Loading the map" />}>
                  <ResultMap job={job.jobID} items={items} />
                </Suspense>
              </Stack>
            </Tabs.Panel>
            <Tabs.Panel value="files">
              <FileList job={job.jobID} files={files} />
            </Tabs.Panel>
          </Tabs>
        );
      }}
    </Awaited>
  );
}
