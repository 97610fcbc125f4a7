import { printable } from "../printable.ts";
import { endedJobs, expectedJobs, stateOf } from "./run-tree.ts";
import type { RunTree, StepNode, StepState } from "./run-tree.ts";

const BAR_WIDTH = 20;
const MAX_TAIL_LINES = 8;

const symbols: { readonly [state in StepState]: string } = {
  waiting: "·",
  running: "▶",
  stopped: "■",
  done: "✔",
  failed: "✖",
  skipped: "-",
};
const colors: { readonly [state in StepState]: string } = {
  waiting: "2",
  running: "36",
  stopped: "33",
  done: "32",
  failed: "31",
  skipped: "2",
};

interface Line {
  readonly text: string;
  readonly state: StepState;
  /** Lines of what a failing step wrote go with it. */
  readonly isTail: boolean;
}

/** The tree of a run as lines that fit a terminal; without colours when `colored` is false. */
export function treeLines(
  tree: RunTree,
  options: { readonly columns: number; readonly rows: number; readonly now: number; readonly colored: boolean },
): string[] {
  const all = [...tree.root.children.values()].flatMap((node) => linesOf(tree, node, 0, options.now));
  const fitted = fit(all, Math.max(3, options.rows - 2));
  const width = Math.max(10, options.columns - 1);
  return [
    ...fitted.map(({ text, state, isTail }) => {
      const cut = shorten(text, width);
      return options.colored && !isTail ? `\u001b[${colors[state]}m${cut}\u001b[0m` : cut;
    }),
    shorten(totalLine(tree, options.now), width),
  ];
}

function linesOf(tree: RunTree, node: StepNode, depth: number, now: number): Line[] {
  const state = stateOf(node, tree.endedAt !== undefined);
  const indent = "  ".repeat(depth);
  const line = {
    text: `${indent}${symbols[state]} ${node.name}${detailsOf(tree, node, state, now)}`,
    state,
    isTail: false,
  };
  const inner = [...node.children.values()].flatMap((child) => linesOf(tree, child, depth + 1, now));
  return [line, ...tailOf(node, `${indent}  `), ...inner];
}

function detailsOf(tree: RunTree, node: StepNode, state: StepState, now: number): string {
  const expected = expectedJobs(node);
  const ended = endedJobs(node);
  const end = state === "running" ? now : state === "stopped" ? (tree.endedAt ?? node.endedAt) : node.endedAt;
  const seconds = node.startedAt === undefined ? 0 : ((end ?? now) - node.startedAt) / 1000;
  const isInner = node.children.size > 0 && ended === 0;
  if (expected <= 1 || isInner) {
    const reused = node.reused > 0 ? "  reused" : "";
    const word = state === "skipped" || state === "stopped" ? `  ${state}` : "";
    const took = state === "skipped" ? "" : `  ${duration(seconds)}`;
    return state === "waiting" || isInner ? "" : `${reused}${word}${took}`;
  }
  const failed = node.failed > 0 ? `  ${node.failed} failed` : "";
  const rate = seconds > 0 ? ended / seconds : 0;
  const left = tree.hasFailed ? "" : `  ${duration(secondsLeft(node, now))} left`;
  const pace = state === "running" && rate > 0 ? `  ${rateText(rate)}${left}` : "";
  const word = state === "stopped" ? "  stopped" : "";
  const took = pace === "" && seconds > 0 ? `  ${duration(seconds)}` : "";
  return `  ${bar(ended / expected)} ${ended}/${expected}${failed}${word}${pace}${took}`;
}

function tailOf({ failure }: StepNode, indent: string): Line[] {
  if (failure === undefined) {
    return [];
  }
  const text = failure.logTail.trim() === "" ? failure.message : failure.logTail;
  const lines = text.trim().split("\n").slice(-MAX_TAIL_LINES);
  return [`${failure.step}:`, ...lines].map((line) => ({
    text: `${indent}│ ${printable(line)}`,
    state: "failed",
    isTail: true,
  }));
}

function totalLine(tree: RunTree, now: number): string {
  const seconds = tree.startedAt === undefined ? 0 : ((tree.endedAt ?? now) - tree.startedAt) / 1000;
  const { percent } = tree;
  const isKnown = percent >= 5 && percent < 100 && !tree.hasFailed && tree.endedAt === undefined;
  const steps = allSteps(tree.root);
  // Steps weigh the same whatever they have to do, so that a long scatter may need longer than the rest says.
  const longest = Math.max(
    0,
    ...steps.map((node) => (stateOf(node, false) === "running" ? secondsLeft(node, now) : 0)),
  );
  const left = isKnown ? `  about ${duration(Math.max(longest, (seconds * (100 - percent)) / percent))} left` : "";
  // Jobs of a scatter are made some at a time, and known when it begins.
  const announced = steps.reduce((sum, node) => sum + (node.children.size === 0 ? expectedJobs(node) : 0), 0);
  const known = Math.max(tree.jobsKnown, tree.jobsDone, tree.jobsKnown === 0 ? 0 : announced);
  return `${bar(percent / 100)} ${percent} %  ${tree.jobsDone} of ${known} jobs  ${duration(seconds)}${left}`;
}

function allSteps(node: StepNode): StepNode[] {
  return [...node.children.values()].flatMap((child) => [child, ...allSteps(child)]);
}

/** By the rate so far; 0 where there is none. */
function secondsLeft(node: StepNode, now: number): number {
  const ended = endedJobs(node);
  return node.startedAt === undefined || ended === 0
    ? 0
    : ((expectedJobs(node) - ended) * (now - node.startedAt)) / 1000 / ended;
}

/** Leaves out what matters least: steps that are done, then those that wait, then what is last. */
function fit(lines: readonly Line[], rows: number): Line[] {
  let kept = [...lines];
  for (const state of ["done", "skipped", "waiting"] as const) {
    if (kept.length <= rows) {
      return kept;
    }
    const shown = kept.filter((line) => line.state !== state);
    const hidden = kept.length - shown.length;
    if (hidden > 0) {
      kept = [...shown, { text: `${symbols[state]} ${hidden} more ${state}`, state, isTail: false }];
    }
  }
  return kept.length <= rows ? kept : [...kept.slice(0, rows - 1), { text: "…", state: "waiting", isTail: true }];
}

function bar(share: number): string {
  const filled = Math.round(Math.min(1, Math.max(0, share)) * BAR_WIDTH);
  return "█".repeat(filled) + "░".repeat(BAR_WIDTH - filled);
}

function rateText(perSecond: number): string {
  return perSecond >= 1 ? `${perSecond.toFixed(perSecond >= 10 ? 0 : 1)}/s` : `${(perSecond * 60).toFixed(1)}/min`;
}

function duration(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60];
  return hours > 0 ? `${hours} h ${minutes} min` : minutes > 0 ? `${minutes} min ${whole % 60} s` : `${whole} s`;
}

function shorten(text: string, width: number): string {
  return text.length <= width ? text : `${text.slice(0, width - 1)}…`;
}
