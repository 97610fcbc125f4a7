import { StagingError } from "./errors.ts";
import type { StageInRequest, StagedInput } from "./types.ts";

export function stageIn(request: StageInRequest): Promise<StagedInput> {
  return Promise.reject(new StagingError("source", request.source.href, "staging in is not written yet"));
}
