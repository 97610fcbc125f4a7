/** One line of the benchmark table. Ratios are ours ÷ peer's unless the note says otherwise; both come from the same run. */
export interface BenchRow {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  /** What we set out to reach, in words: "≤ 6 s", "≥ 0.5 × nginx". */
  readonly aim?: string;
  readonly peer?: { readonly name: string; readonly value: number };
  readonly ratio?: number;
  readonly note?: string;
}
