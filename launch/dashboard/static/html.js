// The few names of preact and htm that pages use, in one place.
export {
  html,
  render,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from "/static/vendor/htm-preact.module.js";
