import { Button, Group, Menu } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { ChevronDown, FileUp, FolderPlus, FolderUp, Upload } from "lucide-react";
import { type ChangeEvent, useRef } from "react";

import { type PlacedFile, readChosen } from "../uploads/read-drop.ts";
import { CreateFolder } from "./create-folder.tsx";

interface UploadButtonsProps {
  readonly bucket: string;
  readonly prefix: string;
  readonly onFiles: (files: readonly PlacedFile[]) => void;
}

/** Chooses files or a whole folder to upload, or makes an empty folder. */
export function UploadButtons({ bucket, prefix, onFiles }: UploadButtonsProps) {
  const files = useRef<HTMLInputElement>(null);
  const folder = useRef<HTMLInputElement>(null);
  const [isMaking, { open, close }] = useDisclosure(false);
  const take = ({ currentTarget }: ChangeEvent<HTMLInputElement>) => {
    if (currentTarget.files !== null) {
      onFiles(readChosen(currentTarget.files));
    }
    // The same file may be chosen again.
    currentTarget.value = "";
  };
  return (
    <Group gap="xs">
      <input ref={files} type="file" multiple hidden onChange={take} aria-label="Files to upload" />
      <input
        ref={folder}
        type="file"
        hidden
        onChange={take}
        aria-label="Folder to upload"
        {...{ webkitdirectory: "" }}
      />
      <Button variant="default" leftSection={<FolderPlus size={16} aria-hidden />} onClick={open}>
        New folder
      </Button>
      <Menu position="bottom-end">
        <Menu.Target>
          <Button leftSection={<Upload size={16} aria-hidden />} rightSection={<ChevronDown size={14} aria-hidden />}>
            Upload
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item leftSection={<FileUp size={16} aria-hidden />} onClick={() => files.current?.click()}>
            Files
          </Menu.Item>
          <Menu.Item leftSection={<FolderUp size={16} aria-hidden />} onClick={() => folder.current?.click()}>
            A folder
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <CreateFolder bucket={bucket} prefix={prefix} opened={isMaking} onClose={close} />
    </Group>
  );
}
