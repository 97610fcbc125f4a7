import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { yaml } from "@codemirror/lang-yaml";
import { HighlightStyle, bracketMatching, foldGutter, indentOnInput, syntaxHighlighting } from "@codemirror/language";
import { type Diagnostic, lintGutter, setDiagnostics } from "@codemirror/lint";
import { EditorState, type Text } from "@codemirror/state";
import {
  EditorView,
  drawSelection,
  highlightActiveLine,
  highlightActiveLineGutter,
  keymap,
  lineNumbers,
  placeholder,
} from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { useEffect, useEffectEvent, useRef } from "react";

import type { PackageProblem } from "../api/processing-client.ts";

interface CwlEditorProps {
  readonly label: string;
  readonly value: string;
  /** Left out: the text is only shown. */
  readonly onChange?: (text: string) => void;
  readonly problems?: readonly PackageProblem[];
  readonly height?: string;
  /** A place to go to; a new object goes there again. */
  readonly goTo?: { readonly line: number; readonly column?: number } | undefined;
}

const HIGHLIGHT = HighlightStyle.define([
  { tag: [tags.definition(tags.propertyName), tags.propertyName], color: "var(--swath-accent)" },
  { tag: [tags.string, tags.special(tags.string)], color: "var(--swath-good)" },
  { tag: [tags.number, tags.bool, tags.null], color: "var(--mantine-color-blue-text)" },
  { tag: [tags.comment, tags.lineComment], color: "var(--mantine-color-dimmed)", fontStyle: "italic" },
  { tag: [tags.keyword, tags.meta], color: "var(--mantine-color-yellow-text)" },
]);

const LOOK = EditorView.theme({
  "&": {
    fontSize: "13px",
    backgroundColor: "var(--mantine-color-body)",
    color: "var(--mantine-color-text)",
    height: "100%",
  },
  ".cm-scroller": { fontFamily: "var(--mantine-font-family-monospace)", overflow: "auto" },
  ".cm-content": { caretColor: "var(--mantine-color-text)" },
  ".cm-gutters": {
    backgroundColor: "var(--swath-back)",
    color: "var(--mantine-color-dimmed)",
    borderRight: "1px solid var(--mantine-color-default-border)",
  },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "var(--swath-hover)" },
  "&.cm-focused .cm-selectionBackground, .cm-selectionBackground": {
    backgroundColor: "var(--swath-chosen) !important",
  },
  ".cm-cursor": { borderLeftColor: "var(--mantine-color-text)" },
  ".cm-placeholder": { color: "var(--mantine-color-placeholder)" },
  ".cm-tooltip": {
    backgroundColor: "var(--mantine-color-body)",
    color: "var(--mantine-color-text)",
    border: "1px solid var(--mantine-color-default-border)",
  },
});

/** A package as a text with line numbers; mistakes are marked where they are. */
export function CwlEditor({ label, value, onChange, problems = [], height = "28rem", goTo }: CwlEditorProps) {
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(null);
  const tell = useEffectEvent((text: string) => onChange?.(text));
  const isEditable = onChange !== undefined;

  useEffect(() => {
    if (host.current === null) {
      return undefined;
    }
    const made = new EditorView({
      parent: host.current,
      state: EditorState.create({
        extensions: [
          EditorView.cspNonce.of(document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce ?? ""),
          lineNumbers(),
          highlightActiveLine(),
          highlightActiveLineGutter(),
          foldGutter(),
          lintGutter(),
          history(),
          drawSelection(),
          indentOnInput(),
          bracketMatching(),
          yaml(),
          placeholder(isEditable ? "Paste or write a package here." : ""),
          syntaxHighlighting(HIGHLIGHT),
          keymap.of([...defaultKeymap, ...historyKeymap]),
          LOOK,
          EditorState.readOnly.of(!isEditable),
          EditorView.contentAttributes.of({
            "aria-label": label,
            "aria-multiline": "true",
            ...(!isEditable && { "aria-readonly": "true", tabindex: "0" }),
          }),
          EditorView.updateListener.of((update) => {
            if (update.docChanged) {
              tell(update.state.doc.toString());
            }
          }),
        ],
      }),
    });
    view.current = made;
    return () => {
      view.current = null;
      made.destroy();
    };
  }, [label, isEditable]);

  useEffect(() => {
    const current = view.current;
    if (current !== null && current.state.doc.toString() !== value) {
      current.dispatch({ changes: { from: 0, to: current.state.doc.length, insert: value } });
    }
  }, [value, label, isEditable]);

  useEffect(() => {
    const current = view.current;
    current?.dispatch(setDiagnostics(current.state, toDiagnostics(problems, current.state.doc)));
  }, [problems, value]);

  useEffect(() => {
    const current = view.current;
    if (current === null || goTo === undefined) {
      return;
    }
    const anchor = placeOf(current.state.doc, goTo.line, goTo.column);
    current.dispatch({ selection: { anchor }, effects: EditorView.scrollIntoView(anchor, { y: "center" }) });
    current.focus();
  }, [goTo]);

  return (
    <div
      ref={host}
      style={{
        height,
        border: "1px solid var(--mantine-color-default-border)",
        borderRadius: "var(--mantine-radius-md)",
        overflow: "hidden",
      }}
    />
  );
}

function placeOf(doc: Text, line: number, column = 1): number {
  const { from, to } = doc.line(Math.min(Math.max(1, line), doc.lines));
  return Math.min(to, from + Math.max(0, column - 1));
}

function toDiagnostics(problems: readonly PackageProblem[], doc: Text): Diagnostic[] {
  return problems
    .map(({ severity, message, hint, line = 1, column }) => {
      const from = placeOf(doc, line, column);
      return {
        from,
        to: Math.max(from, doc.lineAt(from).to),
        severity,
        message: hint === undefined ? message : `${message}\n${hint}`,
      };
    })
    .toSorted((a, b) => a.from - b.from);
}
