import { Tabs } from "@mantine/core";
import { useMediaQuery } from "@mantine/hooks";
import { Awaited, Page, UsageBar, formatPlural } from "@swath/ui";
import { Files, Hourglass, Settings, ShieldCheck } from "lucide-react";
import { Outlet, useLocation, useNavigate, useOutletContext, useParams } from "react-router";

import { toBucket } from "../paths.ts";
import { type Bucket, useBucket } from "./use-buckets.ts";

const TABS = [
  { value: "objects", label: "Objects", Icon: Files },
  { value: "policy", label: "Policy", Icon: ShieldCheck },
  { value: "lifecycle", label: "Lifecycle", Icon: Hourglass },
  { value: "settings", label: "Settings", Icon: Settings },
];

/** A bucket: its objects, its policy, its lifecycle, its settings. */
export function Component() {
  const { bucket: name = "" } = useParams();
  const bucket = useBucket(name);
  const navigate = useNavigate();
  const { pathname } = useLocation();
  // On a phone the names of the tabs take the whole line.
  const hasRoom = useMediaQuery("(min-width: 36em)", true);
  const tab = /\/(policy|lifecycle|settings)$/.exec(pathname)?.[1] ?? "objects";
  const about = bucket.data && (
    <>
      {formatPlural(bucket.data.objects, "object")}
      <UsageBar
        used={bucket.data.bytes + bucket.data.uploadBytes}
        limit={bucket.data.quotaBytes}
        label="Use of this bucket"
      />
    </>
  );
  return (
    <Page title={name} about={about}>
      <Awaited query={bucket} what="Loading the bucket">
        {(data) => (
          <>
            <Tabs
              value={tab}
              onChange={(value) => void navigate(toBucket(name, value === "objects" ? "" : `/${value}`))}
              keepMounted={false}
            >
              <Tabs.List aria-label="Parts of the bucket">
                {TABS.map(({ value, label, Icon }) => (
                  <Tabs.Tab key={value} value={value} leftSection={hasRoom && <Icon size={16} aria-hidden />}>
                    {label}
                  </Tabs.Tab>
                ))}
              </Tabs.List>
              <Tabs.Panel value={tab} pt="md">
                <Outlet context={data} />
              </Tabs.Panel>
            </Tabs>
          </>
        )}
      </Awaited>
    </Page>
  );
}

/** The bucket that a page is a part of. */
export function useThisBucket(): Bucket {
  return useOutletContext<Bucket>();
}
