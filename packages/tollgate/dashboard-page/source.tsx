import { useEffect, useRef, useState } from "preact/hooks";
import type { SourceText } from "../src/dashboard/messages.ts";
import { fetchJson } from "./events.ts";
import { parseSourceHash } from "./place.tsx";

/** Shows the source line that the address names. */
export function Source({ stale }: { stale: boolean }) {
  const place = useSourceHash();
  const dialog = useRef<HTMLDialogElement>(null);
  const marked = useRef<HTMLTableRowElement>(null);
  const [text, setText] = useState<SourceText>();
  const [problem, setProblem] = useState("");

  useEffect(() => {
    const { current } = dialog;
    if (place === undefined) {
      current?.close();
      return;
    }
    setText(undefined);
    setProblem("");
    if (current?.open === false) current.showModal();
    let over = false;
    const query = new URLSearchParams({ file: place.file, line: String(place.line) });
    fetchJson<SourceText>(`dashboard/source?${query}`).then(
      (received) => over || setText(received),
      (error: Error) => over || setProblem(error.message),
    );
    return () => {
      over = true;
    };
  }, [place?.file, place?.line]);
  useEffect(() => marked.current?.scrollIntoView({ block: "center" }), [text]);

  function close(): void {
    if (parseSourceHash(location.hash) === undefined) return;
    // Leaves the page where it is, which an empty hash would not.
    history.replaceState(null, "", location.pathname + location.search);
    dispatchEvent(new Event("hashchange"));
  }
  return (
    <dialog ref={dialog} class="source" aria-labelledby="source-title" onClose={close}>
      <header>
        <h2 id="source-title" class="mono">
          {place?.file}:{place?.line}
        </h2>
        <button type="button" onClick={() => dialog.current?.close()}>
          Close
        </button>
      </header>
      {stale && <p class="near">The last load failed: the file may differ from the rules in use.</p>}
      {problem !== "" && <p class="over">{problem}</p>}
      {text !== undefined && (
        <table>
          <tbody>
            {text.lines.map((line, index) => {
              const number = text.first + index;
              const isMarked = number === place?.line;
              return (
                <tr key={number} ref={isMarked ? marked : null} class={isMarked ? "marked" : ""}>
                  <td class="number muted">{number}</td>
                  <td>
                    <pre>{line}</pre>
                  </td>
                </tr>
              );
            })}
          </tbody>
        </table>
      )}
    </dialog>
  );
}

function useSourceHash(): ReturnType<typeof parseSourceHash> {
  const [place, setPlace] = useState(() => parseSourceHash(location.hash));
  useEffect(() => {
    const update = () => setPlace(parseSourceHash(location.hash));
    addEventListener("hashchange", update);
    return () => removeEventListener("hashchange", update);
  }, []);
  return place;
}
