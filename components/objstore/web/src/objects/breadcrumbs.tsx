import { Anchor, Breadcrumbs as Crumbs, Text } from "@mantine/core";
import { Link } from "react-router";

import { toFolder } from "../paths.ts";

interface BreadcrumbsProps {
  readonly bucket: string;
  /** The folder, with its slash at the end. */
  readonly prefix: string;
  /** What is in the folder, last. */
  readonly leaf?: string;
}

/** Where one is in a bucket, each folder above as a link. */
export function Breadcrumbs({ bucket, prefix, leaf }: BreadcrumbsProps) {
  const parts = prefix.split("/").slice(0, -1);
  const folders = [
    { name: bucket, prefix: "" },
    ...parts.map((name, index) => ({
      name: name === "" ? "(no name)" : name,
      prefix: `${parts.slice(0, index + 1).join("/")}/`,
    })),
  ];
  return (
    <nav aria-label="Folders">
      <Crumbs separatorMargin={6} styles={{ root: { flexWrap: "wrap" } }}>
        {folders.map((folder, index) => {
          const isHere = leaf === undefined && index === folders.length - 1;
          return isHere ? (
            <Text key={folder.prefix} fw={600} size="sm" aria-current="page">
              {folder.name}
            </Text>
          ) : (
            <Anchor key={folder.prefix} component={Link} to={toFolder(bucket, folder.prefix)} size="sm">
              {folder.name}
            </Anchor>
          );
        })}
        {leaf !== undefined && (
          <Text fw={600} size="sm" aria-current="page" style={{ overflowWrap: "anywhere" }}>
            {leaf}
          </Text>
        )}
      </Crumbs>
    </nav>
  );
}
