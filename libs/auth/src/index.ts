export type * from "./policy/types.ts";
export {
  type Evaluator,
  type PathDecision,
  type ResourceDecision,
  VIEW_SCOPE,
  createEvaluator,
} from "./policy/evaluator.ts";
export { type UriIndex, createUriIndex } from "./policy/match-uri.ts";
