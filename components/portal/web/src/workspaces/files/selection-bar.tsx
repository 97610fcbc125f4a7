import { Button } from "@mantine/core";
import { formatPlural, notifyDone, notifyFailed, useConfirm } from "@swath/ui";
import { FolderInput, PackageOpen, PencilLine, Trash } from "lucide-react";
import { useState } from "react";

import { deleteFile, deleteFolder, moveFile, zipUrl } from "../../api/files.ts";
import { NameDialog } from "./name-dialog.tsx";
import type { Row } from "./rows.ts";

interface SelectionBarProps {
  readonly workspace: string;
  /** The folder that is open. */
  readonly prefix: string;
  readonly chosen: readonly Row[];
  readonly mayWrite: boolean;
  /** Something was changed. */
  readonly onDone: () => Promise<void>;
}

/** What can be done with the chosen files and folders. */
export function SelectionBar({ workspace, prefix, chosen, mayWrite, onDone }: SelectionBarProps) {
  const confirm = useConfirm();
  const [isDeleting, setDeleting] = useState(false);
  const [dialog, setDialog] = useState<"rename" | "move">();
  const [first] = chosen;
  const count = formatPlural(chosen.length, "entry", "entries");
  const remove = async () => {
    const yes = await confirm({
      title: `Delete ${count}?`,
      body: chosen.some(({ isFolder }) => isFolder)
        ? "Folders go with everything in them. This cannot be undone."
        : "This cannot be undone.",
      action: "Delete",
      danger: true,
    });
    if (!yes) {
      return;
    }
    setDeleting(true);
    try {
      for (const { key, isFolder } of chosen) {
        await (isFolder ? deleteFolder(workspace, key) : deleteFile(workspace, key));
      }
      notifyDone(`${count} deleted.`);
    } catch (error) {
      notifyFailed("Not everything was deleted", error);
    }
    setDeleting(false);
    await onDone();
  };
  const rename = async (name: string) => {
    if (first === undefined) {
      return;
    }
    const folder = first.key.slice(0, first.key.replace(/\/$/, "").lastIndexOf("/") + 1);
    await moveFile(workspace, first.key, `${folder}${name}${first.isFolder ? "/" : ""}`);
    notifyDone(`${first.name} is ${name} now.`);
    await onDone();
  };
  const move = async (target: string) => {
    const folder = target === "" ? "" : `${target.replace(/\/$/, "")}/`;
    try {
      for (const { key, isFolder } of chosen) {
        const name = key.replace(/\/$/, "").split("/").at(-1) ?? "";
        await moveFile(workspace, key, `${folder}${name}${isFolder ? "/" : ""}`);
      }
    } finally {
      await onDone();
    }
    notifyDone(`${count} moved to ${folder === "" ? workspace : folder}.`);
  };
  return (
    <>
      {first !== undefined && (
        <Button
          component="a"
          href={zipUrl(
            workspace,
            chosen.map(({ key }) => key),
          )}
          download
          variant="default"
          leftSection={<PackageOpen size={16} aria-hidden />}
        >
          Download as zip
        </Button>
      )}
      {mayWrite && chosen.length === 1 && (
        <Button
          variant="default"
          leftSection={<PencilLine size={16} aria-hidden />}
          onClick={() => setDialog("rename")}
        >
          Rename
        </Button>
      )}
      {mayWrite && first !== undefined && (
        <>
          <Button
            variant="default"
            leftSection={<FolderInput size={16} aria-hidden />}
            onClick={() => setDialog("move")}
          >
            Move
          </Button>
          <Button
            color="red"
            variant="light"
            leftSection={<Trash size={16} aria-hidden />}
            loading={isDeleting}
            onClick={() => void remove()}
          >
            Delete {chosen.length}
          </Button>
        </>
      )}
      {dialog === "rename" && first !== undefined && (
        <NameDialog
          title={`Rename ${first.name}`}
          label="Name"
          initial={first.key.replace(/\/$/, "").split("/").at(-1) ?? ""}
          mayNest={false}
          onClose={() => setDialog(undefined)}
          save={rename}
        />
      )}
      {dialog === "move" && (
        <NameDialog
          title={`Move ${count}`}
          label="Folder"
          description={`A path such as scenes/2026; it is created where it is missing. Empty: the top of ${workspace}.`}
          initial={prefix.replace(/\/$/, "")}
          mayNest
          onClose={() => setDialog(undefined)}
          save={move}
        />
      )}
    </>
  );
}
