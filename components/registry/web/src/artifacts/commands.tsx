import { Box, Group, Tabs, Text } from "@mantine/core";
import { CopyButton } from "@swath/ui";

import { useSession } from "../session.ts";
import type { Artifact } from "../types.ts";

interface Command {
  readonly client: string;
  readonly lines: readonly string[];
}

interface CommandsProps {
  readonly label: string;
  readonly commands: readonly Command[];
}

/** Commands for several clients, ready to be copied. */
function Commands({ label, commands }: CommandsProps) {
  return (
    <Tabs defaultValue={commands[0]?.client ?? ""} variant="pills">
      <Tabs.List aria-label={label}>
        {commands.map(({ client }) => (
          <Tabs.Tab key={client} value={client}>
            {client}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      {commands.map(({ client, lines }) => (
        <Tabs.Panel key={client} value={client} pt="xs">
          <Group gap="xs" wrap="nowrap" align="flex-start">
            <Box
              component="pre"
              m={0}
              p="xs"
              flex={1}
              miw={0}
              tabIndex={0}
              role="region"
              aria-label={`Commands for ${client}`}
              bg="var(--mantine-color-default-hover)"
              style={{ overflowX: "auto", borderRadius: "var(--mantine-radius-sm)", textAlign: "start" }}
              fz="sm"
            >
              {lines.join("\n")}
            </Box>
            <CopyButton value={lines.join("\n")} label={`Copy the commands for ${client}`} />
          </Group>
        </Tabs.Panel>
      ))}
    </Tabs>
  );
}

interface PullProps {
  /** With the project. */
  readonly repository: string;
  readonly artifact: Artifact;
}

/** How clients get an artifact. */
export function PullCommands({ repository, artifact }: PullProps) {
  const { data: session } = useSession();
  const name = `${session?.host ?? ""}/${repository}`;
  const tag = artifact.tags[0]?.name;
  const reference = tag === undefined ? `${name}@${artifact.digest}` : `${name}:${tag}`;
  return <Commands label="Clients" commands={listCommands(reference, name, artifact)} />;
}

function listCommands(reference: string, name: string, { type, digest, tags }: Artifact): readonly Command[] {
  const oras = { client: "oras", lines: [`oras pull ${reference}`] };
  const skopeo = { client: "skopeo", lines: [`skopeo copy docker://${reference} oci:${name.split("/").at(-1)}`] };
  switch (type) {
    case "CWL":
      return [
        {
          client: "Processing",
          lines: [JSON.stringify({ executionUnit: { href: reference, type: "application/cwl" } }, undefined, 2)],
        },
        oras,
        skopeo,
      ];
    case "CHART":
      return [
        { client: "helm", lines: [`helm pull oci://${name}${tags[0] ? ` --version ${tags[0].name}` : ""}`] },
        oras,
        skopeo,
      ];
    case "IMAGE":
      return [
        { client: "podman", lines: [`podman pull ${reference}`] },
        { client: "docker", lines: [`docker pull ${reference}`] },
        skopeo,
        {
          client: "Kubernetes",
          lines: [
            "containers:",
            "  - name: main",
            `    image: ${name}@${digest}`,
            "imagePullSecrets:",
            "  - name: container-registry",
          ],
        },
      ];
    default:
      return [oras, skopeo];
  }
}

/** How clients bring the first image. */
export function PushCommands({ project }: { readonly project: string }) {
  const { data: session } = useSession();
  const host = session?.host ?? "";
  const target = `${host}/${project}/image:1`;
  const user = session?.user ?? "";
  return (
    <Box ta="start" mt="md">
      <Text size="sm" mb="xs">
        Log in with your secret for command lines, then push:
      </Text>
      <Commands
        label="Clients"
        commands={[
          { client: "podman", lines: [`podman login ${host} -u ${user}`, `podman push image ${target}`] },
          {
            client: "docker",
            lines: [`docker login ${host} -u ${user}`, `docker tag image ${target}`, `docker push ${target}`],
          },
          {
            client: "oras",
            lines: [
              `oras login ${host} -u ${user}`,
              `oras push ${host}/${project}/ndvi:1.0 --artifact-type application/cwl ndvi.cwl:application/cwl`,
            ],
          },
          {
            client: "helm",
            lines: [`helm registry login ${host} -u ${user}`, `helm push chart.tgz oci://${host}/${project}`],
          },
        ]}
      />
    </Box>
  );
}
