import { Anchor, Group, List, Text, ThemeIcon } from "@mantine/core";
import { CircleX, TriangleAlert } from "lucide-react";

import type { PackageProblem } from "../api/processing-client.ts";

interface ProblemListProps {
  readonly problems: readonly PackageProblem[];
  readonly onGoTo: (place: { line: number; column?: number }) => void;
}

/** What is wrong or doubtful in a package, each with the way to its line. */
export function ProblemList({ problems, onGoTo }: ProblemListProps) {
  return (
    <List listStyleType="none" spacing="xs" aria-label="Problems of the package">
      {problems.map(({ severity, message, hint, line, column, path }) => (
        <List.Item key={`${line}:${column} ${path} ${message}`}>
          <Group gap="xs" wrap="nowrap" align="flex-start">
            <ThemeIcon variant="light" color={severity === "error" ? "red" : "yellow"} size="sm">
              {severity === "error" ? (
                <CircleX size={14} aria-label="Error" />
              ) : (
                <TriangleAlert size={14} aria-label="Advice" />
              )}
            </ThemeIcon>
            <Text size="sm" component="div" style={{ overflowWrap: "anywhere" }}>
              {line !== undefined && (
                <Anchor
                  component="button"
                  type="button"
                  size="sm"
                  mr={6}
                  onClick={() => onGoTo({ line, ...(column !== undefined && { column }) })}
                >
                  Line {line}
                </Anchor>
              )}
              {message}
              {hint !== undefined && (
                <Text span c="dimmed" size="sm">
                  {" "}
                  — {hint}
                </Text>
              )}
            </Text>
          </Group>
        </List.Item>
      ))}
    </List>
  );
}
