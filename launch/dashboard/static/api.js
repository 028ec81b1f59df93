// What pages ask the server for: JSON, bytes with a tag, and the stream of a run.

import { useEffect, useRef, useState } from "./html.js";

const READING = 202; // the answer to a question about what is still being read
const AGAIN_SECONDS = 0.25; // after which something that is being read is asked for again

export class Problem extends Error {
  constructor(text, status) {
    super(text);
    this.status = status;
  }
}

export function apiPath(run, what, query = {}) {
  const search = new URLSearchParams();
  for (const [key, value] of Object.entries(query)) {
    for (const one of Array.isArray(value) ? value : [value]) search.append(key, one);
  }
  const text = search.toString();
  return `/api/runs/${encodeURIComponent(run)}/${what}${text ? `?${text}` : ""}`;
}

async function answered(response) {
  if (response.status === READING) throw new Problem((await response.json()).problem, READING);
  if (response.ok) return response;
  let text = `the server answered ${response.status}`;
  try {
    text = (await response.json()).problem;
  } catch {
    if (response.status === 403) text = "this dashboard was started again: open the address that it printed last";
  }
  throw new Problem(text, response.status);
}

async function reach(path, options) {
  try {
    return await fetch(path, { ...options, credentials: "same-origin" });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Problem("the dashboard does not answer: was it stopped? Start it again with ludus dashboard", 0);
  }
}

export async function getJson(path, signal) {
  return (await answered(await reach(path, { signal }))).json();
}

// Bytes with the tag that they have; null if they are still those of the tag.
export async function getBytes(path, tag, signal) {
  const headers = tag ? { "If-None-Match": tag } : {};
  const response = await reach(path, { headers, signal, cache: "no-store" });
  if (response.status === 304) return null;
  await answered(response);
  return { tag: response.headers.get("ETag"), body: await response.arrayBuffer() };
}

// Asks for JSON now and whenever the path or the version changes; what is being read is asked for again.
export function useJson(path, version = 0) {
  const [found, setFound] = useState({ path: null, data: null, problem: null });
  useEffect(() => {
    if (!path) return undefined;
    const control = new AbortController();
    let timer = null;
    const ask = async () => {
      try {
        setFound({ path, data: await getJson(path, control.signal), problem: null });
      } catch (problem) {
        if (problem.name === "AbortError") return;
        setFound((before) => ({ path, data: before.path === path ? before.data : null, problem }));
        if (problem.status === READING || problem.status === 0) timer = setTimeout(ask, 1000 * AGAIN_SECONDS);
      }
    };
    ask();
    return () => {
      control.abort();
      clearTimeout(timer);
    };
  }, [path, version]);
  return found.path === path ? found : { path, data: null, problem: null };
}

// The status of a run, kept up to date by its stream. Nothing is asked for while the tab is hidden.
export function useStatus(run) {
  const [status, setStatus] = useState({ run, data: null, connected: false });
  const newest = useRef({});
  useEffect(() => {
    if (!run) return undefined;
    let stream = null;
    newest.current = {};
    const take = (whole) => (message) => {
      newest.current = { ...(whole ? {} : newest.current), ...JSON.parse(message.data) };
      setStatus({ run, data: newest.current, connected: true });
    };
    const open = () => {
      if (document.hidden || stream) return;
      stream = new EventSource(apiPath(run, "stream"));
      stream.addEventListener("status", take(true));
      stream.addEventListener("delta", take(false));
      stream.onerror = () => setStatus((before) => ({ ...before, connected: false }));
    };
    const close = () => {
      stream?.close();
      stream = null;
    };
    const turn = () => (document.hidden ? close() : open());
    document.addEventListener("visibilitychange", turn);
    open();
    return () => {
      document.removeEventListener("visibilitychange", turn);
      close();
    };
  }, [run]);
  return status.run === run ? status : { run, data: null, connected: false };
}

// A number that rises every few seconds while the tab can be seen: for what no stream announces.
export function useTicks(seconds) {
  const [tick, setTick] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => document.hidden || setTick((before) => before + 1), 1000 * seconds);
    return () => clearInterval(timer);
  }, [seconds]);
  return tick;
}
