import { Text, Textarea } from "@mantine/core";
import { useRef } from "react";

import classes from "./policy-editor.module.css";
import type { JsonMistake } from "./parse-json.ts";

/** What is known about a text that is being written. */
export interface DocumentCheck {
  readonly state: "empty" | "checking" | "valid" | "invalid";
  readonly mistake: JsonMistake | undefined;
}

interface PolicyEditorProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (text: string) => void;
  readonly check: DocumentCheck;
  /** What to say of a text of each state; left out: of a policy. */
  readonly texts?: Partial<typeof TEXTS>;
}

const TEXTS: Readonly<Record<DocumentCheck["state"], string>> = {
  empty: "No policy. Begin with one of the examples, or write one.",
  checking: "Checking …",
  valid: "This policy is valid.",
  invalid: "",
};

/** A policy, or another document of JSON, as text, with what is wrong about it while it is written. */
export function PolicyEditor({ label, value, onChange, check: { state, mistake }, texts }: PolicyEditorProps) {
  const area = useRef<HTMLTextAreaElement>(null);
  const lines = value.split("\n");
  const show = () => {
    if (mistake?.line !== undefined && area.current !== null) {
      const start = lines.slice(0, mistake.line - 1).reduce((sum, line) => sum + line.length + 1, 0);
      area.current.focus();
      area.current.setSelectionRange(start, start + (lines[mistake.line - 1]?.length ?? 0));
    }
  };
  return (
    <div>
      <div className={classes.frame}>
        <pre className={classes.numbers} aria-hidden>
          {lines.map((_, index) => index + 1).join("\n")}
        </pre>
        <Textarea
          ref={area}
          aria-label={label}
          aria-describedby="policy-state"
          aria-invalid={state === "invalid"}
          value={value}
          onChange={(event) => onChange(event.currentTarget.value)}
          autosize
          minRows={12}
          maxRows={500}
          spellCheck={false}
          autoComplete="off"
          className={classes.area}
          classNames={{ input: classes.input }}
          variant="unstyled"
          wrap="off"
        />
      </div>
      <div id="policy-state" role="status" className={classes.state}>
        {state === "invalid" ? (
          <Text size="sm" c="var(--mantine-color-error)" component="div">
            {mistake?.line !== undefined && (
              <button type="button" className={classes.jump} onClick={show}>
                Line {mistake.line}, column {mistake.column}
              </button>
            )}
            {mistake?.line !== undefined && ": "}
            {mistake?.message}
          </Text>
        ) : (
          <Text size="sm" c={state === "valid" ? "var(--swath-good)" : "dimmed"}>
            {texts?.[state] ?? TEXTS[state]}
          </Text>
        )}
      </div>
    </div>
  );
}
