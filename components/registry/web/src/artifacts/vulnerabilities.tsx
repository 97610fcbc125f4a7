import { Badge, Button, Group, Table, Text } from "@mantine/core";
import { Awaited, ErrorNote, RelativeTime } from "@swath/ui";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";

import { artifactApi, change, read } from "../api.ts";
import type { ArtifactPlace } from "./artifact-page.tsx";

interface Overview {
  readonly scan_status: "Pending" | "Running" | "Success" | "Error";
  readonly scanner: { readonly name: string };
  readonly severity: string | null;
  readonly summary: { readonly total: number; readonly summary: Readonly<Record<string, number>> };
  readonly failure: string | null;
  readonly end_time: string | null;
}

interface Vulnerability {
  readonly id: string;
  readonly package?: string;
  readonly version?: string;
  readonly fix_version?: string;
  readonly severity?: string;
}

const LOOK_MS = 2000;
const MAX_SHOWN = 500;
const COLORS: Readonly<Record<string, string>> = { Critical: "red", High: "orange", Medium: "yellow", None: "green" };

/** What a scanner found in the artifact. */
export function Vulnerabilities({ place, canScan }: { readonly place: ArtifactPlace; readonly canScan: boolean }) {
  const { project, repository, digest } = place;
  const path = artifactApi(project, repository, digest);
  const client = useQueryClient();
  const key = ["scan", project, repository, digest];
  const overview = useQuery({
    queryKey: key,
    queryFn: async () => Object.values(await read<Readonly<Record<string, Overview>>>(`${path}/scan`))[0] ?? null,
    refetchInterval: ({ state }) => (isOpen(state.data ?? null) ? LOOK_MS : false),
  });
  const scan = useMutation({
    mutationFn: () => change("POST", `${path}/scan`),
    onSettled: () => client.invalidateQueries({ queryKey: key }),
  });
  return (
    <>
      {scan.error && <ErrorNote error={scan.error} title="No scan was begun" />}
      <Awaited query={overview} what="Looking for a scan">
        {(found) => (
          <>
            <Group>
              <Text size="sm" role="status">
                {found === null ? "It was not scanned." : <Said overview={found} />}
              </Text>
              {canScan && (
                <Button
                  size="compact-sm"
                  variant="default"
                  loading={scan.isPending || isOpen(found)}
                  onClick={() => scan.mutate()}
                >
                  Scan
                </Button>
              )}
            </Group>
            {found?.scan_status === "Success" && found.summary.total > 0 && <Report path={path} scan={found} />}
          </>
        )}
      </Awaited>
    </>
  );
}

const isOpen = (found: Overview | null) => found?.scan_status === "Pending" || found?.scan_status === "Running";

function Said({ overview }: { readonly overview: Overview }) {
  const { scan_status: status, severity, summary, failure, end_time: end, scanner } = overview;
  if (status === "Error") {
    return <>The scan failed: {failure}</>;
  }
  if (status !== "Success" || end === null) {
    return <>{scanner.name} is at work.</>;
  }
  return (
    <>
      <Badge component="span" variant="light" tt="none" color={COLORS[severity ?? ""]}>
        {severity === "None" ? "nothing found" : `${severity}`}
      </Badge>{" "}
      {Object.entries(summary.summary)
        .map(([name, count]) => `${count} ${name}`)
        .join(", ")}{" "}
      {scanner.name}, <RelativeTime time={end} />
    </>
  );
}

function Report({ path, scan }: { readonly path: string; readonly scan: Overview }) {
  const report = useQuery({
    queryKey: ["vulnerabilities", path, scan.end_time],
    queryFn: async () => {
      const all = await read<Readonly<Record<string, { readonly vulnerabilities?: readonly Vulnerability[] | null }>>>(
        `${path}/additions/vulnerabilities`,
      );
      return Object.values(all)[0]?.vulnerabilities ?? [];
    },
  });
  return (
    <Awaited query={report} what="Loading the report">
      {(list) => (
        <Table.ScrollContainer minWidth={400} mah={420} mt="sm">
          <Table aria-label="Vulnerabilities">
            <Table.Thead>
              <Table.Tr>
                {["Vulnerability", "Severity", "Package", "Version", "Mended in"].map((title) => (
                  <Table.Th key={title}>{title}</Table.Th>
                ))}
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {list.slice(0, MAX_SHOWN).map((each) => (
                <Table.Tr key={`${each.id} ${each.package ?? ""} ${each.version ?? ""}`}>
                  <Table.Td>{each.id}</Table.Td>
                  <Table.Td>{each.severity}</Table.Td>
                  <Table.Td>{each.package}</Table.Td>
                  <Table.Td>{each.version}</Table.Td>
                  <Table.Td>{each.fix_version}</Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </Table.ScrollContainer>
      )}
    </Awaited>
  );
}
