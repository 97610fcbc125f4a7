/** A change of colours between 0 and 1 in some bands (from 0), as rio-color has it. */
export type ColorOperation = { readonly bands: readonly number[] } & (
  | { readonly kind: "gamma"; /** Above 1 brightens. */ readonly gamma: number }
  /** Above 0, `contrast` widens what is around `bias`, 0 to 1. */
  | { readonly kind: "sigmoidal"; readonly contrast: number; readonly bias: number }
);

/** What the operations, in their order, do to the values of a band; `key` names it. */
export interface Curve {
  readonly key: string;
  readonly apply: (value: number) => number;
}

export function curveOf(operations: readonly ColorOperation[], band: number): Curve | undefined {
  const own = operations.filter(({ bands }) => bands.includes(band));
  const steps = own.map(toStep);
  return own.length === 0
    ? undefined
    : { key: JSON.stringify(own), apply: (value) => steps.reduce((reached, step) => step(reached), value) };
}

function toStep(operation: ColorOperation): Curve["apply"] {
  if (operation.kind === "gamma") {
    return (value) => value ** (1 / operation.gamma);
  }
  const { contrast, bias } = operation;
  const sigmoid = (value: number) => 1 / (1 + Math.exp(contrast * (bias - value)));
  const [least, greatest] = [sigmoid(0), sigmoid(1)];
  return contrast === 0 ? (value) => value : (value) => (sigmoid(value) - least) / (greatest - least);
}
