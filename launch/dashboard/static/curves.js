// The points of curves: asked for once, then only those that are new.

import { apiPath, getJson } from "./api.js";
import { useEffect, useRef, useState } from "./html.js";

const SECONDS = 2; // between two questions, however often something changes

// Returns {series: {name: {matches, env_steps, values}}, complete, reading: [events read, of how many]}. `version` changes when there may be new points.
export function useCurves(run, names, version) {
  const [found, setFound] = useState({ series: {}, complete: false });
  const known = useRef({ key: "", next: 0, series: {} });
  const asked = useRef(0);
  const [again, setAgain] = useState(0);
  const key = `${run}|${names.join("|")}`;
  useEffect(() => {
    if (!names.length) return undefined;
    if (known.current.key !== key) {
      known.current = { key, next: 0, series: {} };
      asked.current = 0;
      setFound({ series: {}, complete: false });
    }
    const control = new AbortController();
    const wait = Math.max(0, asked.current + 1000 * SECONDS - Date.now());
    const timer = setTimeout(async () => {
      asked.current = Date.now();
      try {
        const since = known.current.next;
        const news = await getJson(apiPath(run, "curves", { name: names, since }), control.signal);
        known.current = { key, next: news.next, series: extended(known.current.series, news.series) };
        setFound({ series: known.current.series, complete: news.complete, reading: news.reading });
        if (!news.complete) setTimeout(() => setAgain((before) => before + 1), 1000);
      } catch (problem) {
        if (problem.name !== "AbortError") setTimeout(() => setAgain((before) => before + 1), 3000);
      }
    }, wait);
    return () => {
      clearTimeout(timer);
      control.abort();
    };
  }, [key, version, again]);
  return found;
}

function extended(before, news) {
  const all = { ...before };
  for (const [name, points] of Object.entries(news)) {
    const old = before[name];
    all[name] = old
      ? Object.fromEntries(Object.keys(points).map((column) => [column, [...old[column], ...points[column]]]))
      : points;
  }
  return all;
}
