import { Badge, Button, Group, Switch, Text } from "@mantine/core";
import { useVirtualizer } from "@tanstack/react-virtual";
import { Download } from "lucide-react";
import { useEffect, useMemo, useRef, useState } from "react";

import { followLog } from "../api/follow-log.ts";
import type { Job } from "../api/processing-client.ts";
import { useProcessing } from "../api/processing.ts";
import { EMPTY_LOG, type LogLine, addPieces, closeLog } from "../model/log-lines.ts";
import { withoutIndices } from "../model/step-states.ts";
import classes from "./job-log.module.css";

interface JobLogProps {
  readonly job: Job;
  /** Only what this step says. */
  readonly step?: string;
}

const STATES = {
  connecting: { color: "gray", label: "connecting" },
  live: { color: "green", label: "live" },
  broken: { color: "yellow", label: "connecting again" },
  ended: { color: "gray", label: "complete" },
} as const;

const ROW = 20;

/** What a job's programs write, as they write it. */
export function JobLog({ job: { jobID, processID }, step }: JobLogProps) {
  const client = useProcessing();
  const [log, setLog] = useState(EMPTY_LOG);
  const [state, setState] = useState<keyof typeof STATES>("connecting");
  useEffect(() => {
    const stop = new AbortController();
    void followLog({
      client,
      job: jobID,
      signal: stop.signal,
      onPieces: (pieces) => setLog((now) => addPieces(now, pieces)),
      onState: (now) => {
        setState(now);
        if (now === "ended") {
          setLog(closeLog);
        }
      },
    });
    return () => stop.abort();
  }, [client, jobID]);
  const lines = useMemo(
    () => (step === undefined ? log.lines : log.lines.filter((line) => isOf(line, step))),
    [log.lines, step],
  );
  return (
    <section aria-label={step === undefined ? "Log" : `Log of ${step}`}>
      <Group justify="space-between" mb="xs">
        <Group gap="xs">
          <Badge color={STATES[state].color} variant="light" role="status">
            {STATES[state].label}
          </Badge>
          {step !== undefined && <Text size="sm">of {step}</Text>}
          {log.dropped > 0 && (
            <Text size="sm" c="dimmed">
              The first {log.dropped} lines are not shown; the whole log can be downloaded.
            </Text>
          )}
        </Group>
        <Button
          component="a"
          href={client.logUrl(jobID)}
          download={`${processID}-${jobID}.log`}
          size="xs"
          variant="default"
          leftSection={<Download size={14} aria-hidden />}
        >
          Download
        </Button>
      </Group>
      <LogLines lines={lines} showStep={step === undefined} isOver={state === "ended"} />
    </section>
  );
}

const isOf = (line: LogLine, step: string): boolean => {
  const name = withoutIndices(line.step);
  return name === step || name.startsWith(`${step}/`) || name === "";
};

interface LogLinesProps {
  readonly lines: readonly LogLine[];
  readonly showStep: boolean;
  readonly isOver: boolean;
}

function LogLines({ lines, showStep, isOver }: LogLinesProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const [isFollowing, setFollowing] = useState(true);
  const virtual = useVirtualizer({
    count: lines.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW,
    overscan: 20,
  });
  useEffect(() => {
    if (isFollowing && lines.length > 0) {
      virtual.scrollToIndex(lines.length - 1);
    }
  }, [isFollowing, lines.length, virtual]);
  return (
    <>
      <div
        ref={scroller}
        className={classes.log}
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- what scrolls is reached with the keyboard
        tabIndex={0}
        role="log"
        aria-label="Lines of the log"
        aria-live="off"
        onWheel={() => setFollowing(false)}
      >
        {lines.length === 0 && (
          <span className={classes.empty}>{isOver ? "Nothing was written." : "Nothing is written yet."}</span>
        )}
        <div style={{ height: virtual.getTotalSize(), position: "relative" }}>
          {virtual.getVirtualItems().map(({ index, start }) => {
            const line = lines[index];
            return (
              <div key={index} className={classes.line} style={{ transform: `translateY(${start}px)`, height: ROW }}>
                <span className={classes.number}>{line?.number}</span>
                {showStep && <span className={classes.step}>{line?.step}</span>}
                <span>{line?.text}</span>
              </div>
            );
          })}
        </div>
      </div>
      <Switch
        mt="xs"
        size="xs"
        label="Follow the end"
        checked={isFollowing}
        onChange={(event) => setFollowing(event.currentTarget.checked)}
      />
    </>
  );
}
