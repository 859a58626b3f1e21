// Messages about what the user just did; everything else is in operations.
import Flashbar, { type FlashbarProps } from "@cloudscape-design/components/flashbar";
import { type ReactNode, createContext, useCallback, useContext, useMemo, useState } from "react";

export interface Flash {
  type: FlashbarProps.Type;
  header: string;
  content?: ReactNode;
  action?: ReactNode;
}

type Add = (flash: Flash) => void;
const AddContext = createContext<Add>(() => undefined);
const ItemsContext = createContext<FlashbarProps.MessageDefinition[]>([]);
let serial = 0;

export function FlashProvider({ children }: { children: ReactNode }) {
  const [items, setItems] = useState<FlashbarProps.MessageDefinition[]>([]);
  const add = useCallback<Add>((flash) => {
    const id = `flash-${++serial}`;
    const dismiss = () => setItems((all) => all.filter((item) => item.id !== id));
    const item = { ...flash, id, dismissible: true, dismissLabel: "Dismiss", onDismiss: dismiss };
    setItems((all) => [item, ...all].slice(0, 4));
    if (flash.type === "success" || flash.type === "info") setTimeout(dismiss, 12_000);
  }, []);
  const shown = useMemo(() => items, [items]);
  return (
    <AddContext.Provider value={add}>
      <ItemsContext.Provider value={shown}>{children}</ItemsContext.Provider>
    </AddContext.Provider>
  );
}

export const useFlash = (): Add => useContext(AddContext);

export function Flashes() {
  return <Flashbar items={useContext(ItemsContext)} />;
}
