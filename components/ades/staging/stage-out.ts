import { StagingError } from "./errors.ts";
import type { StageOutRequest, StagedOutput } from "./types.ts";

export function stageOut(request: StageOutRequest): Promise<StagedOutput> {
  return Promise.reject(new StagingError("output", request.directory, "staging out is not written yet"));
}
