// The keys, and the switch that turns them off.
import Modal from "@cloudscape-design/components/modal";
import SpaceBetween from "@cloudscape-design/components/space-between";
import Toggle from "@cloudscape-design/components/toggle";
import { useState } from "react";
import { SHORTCUTS, setShortcuts, shortcutsOn } from "./shortcuts";

export function Help({ visible, onClose }: { visible: boolean; onClose: () => void }) {
  const [on, setOn] = useState(shortcutsOn);
  return (
    <Modal visible={visible} onDismiss={onClose} header="Keyboard">
      <SpaceBetween size="m">
        <dl className="facts keys">
          {SHORTCUTS.map(([key, what]) => (
            <div key={key}>
              <dt>
                {key.split(" ").map((part) => (
                  <kbd key={part}>{part}</kbd>
                ))}
              </dt>
              <dd>{what}</dd>
            </div>
          ))}
        </dl>
        <Toggle
          checked={on}
          onChange={({ detail }) => {
            setShortcuts(detail.checked);
            setOn(detail.checked);
          }}
        >
          Single-key shortcuts
        </Toggle>
      </SpaceBetween>
    </Modal>
  );
}
