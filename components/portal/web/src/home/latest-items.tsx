import { Anchor, Card, Skeleton, Text } from "@mantine/core";
import { ErrorNote, formatTime } from "@swath/ui";
import { type StacItem, timeOf, titleOf } from "@swath/ui/stac";
import { useQuery } from "@tanstack/react-query";
import { Link } from "react-router";

import { itemPath } from "../../catalogue/model/stac.ts";
import { Thumbnail } from "../../catalogue/parts/thumbnail.tsx";
import { listLatestResults, listLatestScenes } from "../api/latest.ts";
import { usePortal } from "../session/portal.ts";
import classes from "./latest-items.module.css";
import { Section } from "./section.tsx";

const SHOWN = 6;

/** The newest scenes of the catalogue, whoever they are of. */
export function LatestScenes() {
  const scenes = useQuery({
    queryKey: ["latest-scenes"],
    queryFn: ({ signal }) => listLatestScenes(SHOWN, signal),
    refetchInterval: 60_000,
  });
  return <Strip title="Latest scenes" to="/catalogue" all="All scenes" query={scenes} none="The catalogue is empty." />;
}

/** What the jobs of who is logged in gave last. */
export function LatestResults() {
  const { user } = usePortal();
  const results = useQuery({
    queryKey: ["latest-results", user.username],
    queryFn: ({ signal }) => listLatestResults(user.username, SHOWN, signal),
    refetchInterval: 15_000,
  });
  // Without any the list of jobs says all there is to say.
  return results.data?.length === 0 ? null : (
    <Strip title="My latest results" to="/processing/jobs" all="All jobs" query={results} none="" />
  );
}

interface StripProps {
  readonly title: string;
  readonly to: string;
  readonly all: string;
  readonly none: string;
  readonly query: {
    readonly data: readonly StacItem[] | undefined;
    readonly error: unknown;
    readonly refetch: () => unknown;
  };
}

function Strip({ title, to, all, none, query: { data, error, refetch } }: StripProps) {
  return (
    <Section
      title={title}
      aside={
        <Anchor component={Link} to={to} size="sm">
          {all}
        </Anchor>
      }
    >
      {error !== null && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {data?.length === 0 ? (
        <Text c="dimmed">{none}</Text>
      ) : (
        <ul className={classes["strip"] ?? ""} aria-label={title}>
          {data === undefined
            ? Array.from({ length: SHOWN }, (_, index) => (
                <Card key={index} component="li" withBorder p="xs" aria-hidden>
                  <Skeleton height={96} animate={false} />
                  <Skeleton height={12} mt="xs" animate={false} />
                </Card>
              ))
            : data.map((item) => <ItemCard key={`${item.collection}/${item.id}`} item={item} />)}
        </ul>
      )}
    </Section>
  );
}

function ItemCard({ item }: { readonly item: StacItem }) {
  const time = timeOf(item);
  return (
    <Card component="li" withBorder p="xs" className={classes["card"] ?? ""}>
      <Thumbnail item={item} size="100%" height={96} />
      <Anchor
        component={Link}
        to={itemPath(item)}
        className={classes["title"] ?? ""}
        size="sm"
        mt={6}
        title={titleOf(item)}
      >
        {titleOf(item)}
      </Anchor>
      {time !== undefined && (
        <Text size="xs" c="dimmed" truncate>
          {formatTime(new Date(time))}
        </Text>
      )}
    </Card>
  );
}
