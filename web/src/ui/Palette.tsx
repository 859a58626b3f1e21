// Ctrl K: pages, clusters and operations by name. It only goes places.
import { useQuery } from "@tanstack/react-query";
import { type KeyboardEvent, useEffect, useRef, useState } from "react";
import { useNavigate } from "react-router";
import { clusterList } from "../clusters/queries";
import { operationList } from "../operations/queries";
import { places, matching } from "./places";

export function Palette({ cluster, onClose }: { cluster: string | null; onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const navigate = useNavigate();
  const [text, setText] = useState("");
  const [index, setIndex] = useState(0);
  const clusters = useQuery(clusterList()).data?.items ?? [];
  const operations = useQuery(operationList({ limit: 50 })).data?.items ?? [];
  const found = matching(places(clusters, operations, cluster), text).slice(0, 12);
  const at = Math.min(index, found.length - 1);

  useEffect(() => {
    dialog.current?.showModal();
  }, []);

  const go = (href: string | undefined) => {
    if (!href) return;
    onClose();
    void navigate(href);
  };
  const press = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && found.length) setIndex((at + step + found.length) % found.length);
    else if (event.key === "Enter") go(found[at]?.href);
    else return;
    event.preventDefault();
  };

  return (
    <dialog
      ref={dialog}
      className="palette"
      aria-label="Search"
      onClose={onClose}
      onClick={(event) => event.target === dialog.current && onClose()}
    >
      <input
        role="combobox"
        aria-label="Search pages, clusters and operations"
        aria-expanded="true"
        aria-controls="palette-list"
        aria-activedescendant={found[at] ? `palette-${at}` : undefined}
        placeholder="Page, cluster, operation"
        autoComplete="off"
        value={text}
        onChange={(event) => {
          setText(event.target.value);
          setIndex(0);
        }}
        onKeyDown={press}
      />
      <ul id="palette-list" role="listbox" aria-label="Places">
        {found.map((place, number) => (
          <li
            key={place.href}
            id={`palette-${number}`}
            role="option"
            aria-selected={number === at}
            onMouseMove={() => setIndex(number)}
            onClick={() => go(place.href)}
          >
            <span>{place.text}</span>
            <span className="small">{place.kind}</span>
          </li>
        ))}
      </ul>
      {found.length === 0 && <p role="status">Nothing of that name.</p>}
    </dialog>
  );
}
