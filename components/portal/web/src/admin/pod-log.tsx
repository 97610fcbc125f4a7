import { Anchor, Breadcrumbs, Group, NativeSelect, Stack, Switch, Text, TextInput } from "@mantine/core";
import { Awaited } from "@swath/ui";
import { useQuery } from "@tanstack/react-query";
import { useEffect, useMemo, useRef, useState } from "react";
import { Link, useParams } from "react-router";

import { listPods, readPodLog } from "../api/admin.ts";
import classes from "./pod-log.module.css";
import { parseLog } from "./log-lines.ts";
import { PhaseBadge } from "./phase-badge.tsx";

/** The end of a pod's log, as it grows. */
export function Component() {
  const { namespace = "", pod = "" } = useParams();
  const [lines, setLines] = useState("200");
  const [isLive, setLive] = useState(true);
  const [requested, setWanted] = useState("");
  const pods = useQuery({ queryKey: ["pods"], queryFn: listPods, refetchInterval: 3000 });
  const log = useQuery({
    queryKey: ["pod-log", namespace, pod, lines],
    queryFn: () => readPodLog(namespace, pod, Number(lines)),
    refetchInterval: isLive ? 2000 : false,
  });
  const known = pods.data?.find(({ name }) => name === pod);
  return (
    <Stack>
      <Breadcrumbs>
        <Anchor component={Link} to="/admin/pods">
          Pods
        </Anchor>
        <Group gap="sm">
          <Text fw={600} style={{ overflowWrap: "anywhere" }}>
            {pod}
          </Text>
          {known && <PhaseBadge pod={known} />}
        </Group>
      </Breadcrumbs>
      {known?.message !== undefined && <Text size="sm">{known.message}</Text>}
      <Group align="flex-end">
        <TextInput
          label="Filter lines"
          value={requested}
          onChange={(event) => setWanted(event.currentTarget.value)}
          w={240}
        />
        <NativeSelect
          label="Lines"
          data={["200", "1000", "5000"]}
          value={lines}
          onChange={(event) => setLines(event.currentTarget.value)}
        />
        <Switch label="Follow" checked={isLive} onChange={(event) => setLive(event.currentTarget.checked)} mb={8} />
      </Group>
      <Awaited query={log} what="Reading the log">
        {(text) => <LogText name={pod} text={text} requested={requested} isLive={isLive} />}
      </Awaited>
    </Stack>
  );
}

interface LogTextProps {
  readonly name: string;
  readonly text: string;
  readonly requested: string;
  readonly isLive: boolean;
}

function LogText({ name, text, requested, isLive }: LogTextProps) {
  const bbox = useRef<HTMLDivElement>(null);
  const lines = useMemo(() => {
    const needle = requested.toLowerCase();
    return parseLog(text).filter(({ raw }) => raw.toLowerCase().includes(needle));
  }, [text, requested]);
  useEffect(() => {
    if (isLive) {
      bbox.current?.scrollTo({ top: bbox.current.scrollHeight });
    }
  }, [lines, isLive]);
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- a region that scrolls has to be reached
    <div ref={bbox} className={classes.log} role="log" aria-live="off" aria-label={`Log of ${name}`} tabIndex={0}>
      {lines.length === 0 && <Text c="dimmed">{requested === "" ? "No log output yet." : "No matching lines."}</Text>}
      {lines.map(({ id, time, level, message, detail }) => (
        <div key={id} className={classes.line} data-level={level}>
          <span className={classes.time}>{time}</span> <span className={classes.level}>{level}</span> {message}{" "}
          <span className={classes.detail}>{detail}</span>
        </div>
      ))}
    </div>
  );
}
