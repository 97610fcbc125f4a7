import { useDebouncedValue } from "@mantine/hooks";
import { requestJson } from "@swath/ui";
import { useQuery } from "@tanstack/react-query";

import { parseJson } from "./parse-json.ts";
import type { DocumentCheck } from "./policy-editor.tsx";

interface PolicyCheck extends DocumentCheck {
  /** The document, when it is one that the service takes. */
  readonly policy: object | undefined;
}

/** Checks a policy while it is written: its JSON here, its meaning by the service. */
export function usePolicyCheck(text: string, bucket?: string): PolicyCheck {
  const [settled] = useDebouncedValue(text, 300);
  const parsed = parseJson(text);
  const isSettled = settled === text;
  const judged = useQuery({
    queryKey: ["policy-check", bucket ?? "", settled],
    queryFn: async () => {
      try {
        const query = bucket === undefined ? "" : `?bucket=${encodeURIComponent(bucket)}`;
        await requestJson(`/api/policies/validate${query}`, { method: "POST", body: JSON.parse(settled) as object });
        return { message: undefined };
      } catch (error) {
        return { message: error instanceof Error ? error.message : String(error) };
      }
    },
    enabled: isSettled && "value" in parsed,
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (text.trim() === "") {
    return { state: "empty", policy: undefined, mistake: undefined };
  }
  if (!("value" in parsed)) {
    return { state: "invalid", policy: undefined, mistake: parsed.mistake };
  }
  if (!isSettled || judged.data === undefined) {
    return { state: "checking", policy: undefined, mistake: undefined };
  }
  const { message } = judged.data;
  return message === undefined
    ? { state: "valid", policy: parsed.value, mistake: undefined }
    : { state: "invalid", policy: undefined, mistake: { message } };
}
