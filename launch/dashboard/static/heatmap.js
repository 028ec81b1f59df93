// A heat map on a canvas: any number of players, with a wheel, a drag, two fingers or keys to move in it.
//
//     const map = new HeatMap(canvas, { point: (cell) => ..., choose: (cell) => ... });
//     map.show({ players, cells });       // cells: a byte for each, row by row
//     map.close();
//
// The cells become one picture, a pixel each; moving and zooming only draws that picture at another place.

import { colour, onTheme, scoreColour } from "./theme.js";

export const UNKNOWN = 255;
export const PREDICTED = 128;
const LABELS = 120; // pixels for names, if cells are tall enough for them
const LEGIBLE = 11; // pixels of a cell that has a name beside it
const NUMBERED = 26; // pixels of a cell that has its number in it
const LARGEST = 64; // pixels of a cell
const STEPS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

export class HeatMap {
  constructor(canvas, { point, choose }) {
    this.canvas = canvas;
    this.pen = canvas.getContext("2d");
    this.point = point;
    this.choose = choose;
    this.players = [];
    this.cells = new Uint8Array();
    this.cursor = null; // the cell that is pointed at, as [row, column]
    this.view = { x: 0, y: 0, size: 0 }; // the first cell in sight, and pixels for each
    this.drag = null;
    this.frame = 0;
    this.control = new AbortController();
    this.stopTheme = onTheme(() => this.recolour());
    this.watcher = new ResizeObserver(() => this.resize());
    this.watcher.observe(canvas);
    this.listen();
  }

  close() {
    this.control.abort();
    this.watcher.disconnect();
    this.stopTheme();
    cancelAnimationFrame(this.frame);
  }

  show({ players, cells }) {
    const moved = players.length !== this.players.length;
    this.players = players;
    this.cells = cells;
    this.recolour();
    if (moved) this.fit();
  }

  // --- the picture ---------------------------------------------------------------------------------------------

  recolour() {
    const count = this.players.length;
    if (!count) return;
    const table = colours();
    const pixels = new Uint32Array(count * count);
    for (let i = 0; i < pixels.length; i += 1) pixels[i] = table[this.cells[i]];
    this.picture = new OffscreenCanvas(count, count);
    this.picture.getContext("2d").putImageData(new ImageData(new Uint8ClampedArray(pixels.buffer), count, count), 0, 0);
    this.redraw();
  }

  redraw() {
    cancelAnimationFrame(this.frame);
    this.frame = requestAnimationFrame(() => this.draw());
  }

  draw() {
    const { pen, view, canvas, margin } = this;
    const ratio = window.devicePixelRatio;
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, canvas.clientWidth, canvas.clientHeight);
    if (!this.picture) return;
    const count = this.players.length;
    const [across, down] = [this.across, this.down];
    pen.imageSmoothingEnabled = view.size < 1;
    pen.drawImage(this.picture, view.x, view.y, across, down, margin, margin, across * view.size, down * view.size);
    this.drawCursor();
    if (view.size >= NUMBERED) this.drawNumbers();
    if (view.size >= LEGIBLE) this.drawNames(count);
  }

  drawCursor() {
    if (!this.cursor) return;
    const [x, y] = this.corner(...this.cursor);
    const size = Math.max(3, this.view.size);
    this.pen.lineWidth = 2;
    this.pen.strokeStyle = colour("text");
    this.pen.strokeRect(x - 1, y - 1, size + 2, size + 2);
  }

  drawNumbers() {
    const { pen, view } = this;
    pen.font = "11px system-ui, sans-serif";
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    this.eachInSight((row, column, value) => {
      const score = value % PREDICTED;
      const [x, y] = this.corner(row, column);
      pen.fillStyle = Math.abs(score - 50) > 33 ? "#ffffff" : "#111111";
      pen.fillText(value >= PREDICTED ? `(${score})` : score, x + view.size / 2, y + view.size / 2);
    });
  }

  eachInSight(call) {
    const { view, cells } = this;
    const count = this.players.length;
    for (let row = Math.floor(view.y); row < Math.min(count, view.y + this.down); row += 1) {
      for (let column = Math.floor(view.x); column < Math.min(count, view.x + this.across); column += 1) {
        const value = cells[row * count + column];
        if (value !== UNKNOWN) call(row, column, value);
      }
    }
  }

  drawNames(count) {
    const { pen, view, margin } = this;
    pen.font = `${Math.min(13, view.size)}px system-ui, sans-serif`;
    pen.fillStyle = colour("text");
    pen.textBaseline = "middle";
    for (let i = Math.floor(view.y); i < Math.min(count, view.y + this.down); i += 1) {
      pen.textAlign = "right";
      pen.fillText(fitted(this.players[i]), margin - 6, this.corner(i, 0)[1] + view.size / 2);
    }
    for (let i = Math.floor(view.x); i < Math.min(count, view.x + this.across); i += 1) {
      pen.save();
      pen.translate(this.corner(0, i)[0] + view.size / 2, margin - 6);
      pen.rotate(-Math.PI / 2);
      pen.textAlign = "left";
      pen.fillText(fitted(this.players[i]), 0, 0);
      pen.restore();
    }
  }

  // --- places --------------------------------------------------------------------------------------------------

  get margin() {
    return this.view.size >= LEGIBLE ? LABELS : 4;
  }

  get across() {
    return Math.min(this.players.length - this.view.x, (this.canvas.clientWidth - this.margin) / this.view.size);
  }

  get down() {
    return Math.min(this.players.length - this.view.y, (this.canvas.clientHeight - this.margin) / this.view.size);
  }

  corner(row, column) {
    const { view, margin } = this;
    return [margin + (column - view.x) * view.size, margin + (row - view.y) * view.size];
  }

  cellAt(x, y) {
    const { view, margin } = this;
    const column = Math.floor((x - margin) / view.size + view.x);
    const row = Math.floor((y - margin) / view.size + view.y);
    const inside = x >= margin && y >= margin && row < this.players.length && column < this.players.length;
    return inside ? [row, column] : null;
  }

  // Cells as large as all of them fit.
  fit() {
    const room = Math.min(this.canvas.clientWidth, this.canvas.clientHeight);
    const count = Math.max(1, this.players.length);
    const size = Math.max((room - 4) / count < LEGIBLE ? (room - 4) / count : 0, (room - LABELS) / count);
    this.view = { x: 0, y: 0, size: Math.min(LARGEST, size) };
    this.redraw();
  }

  resize() {
    const ratio = window.devicePixelRatio;
    this.canvas.width = Math.round(this.canvas.clientWidth * ratio);
    this.canvas.height = Math.round(this.canvas.clientHeight * ratio);
    if (!this.view.size) this.fit();
    this.moveTo(this.view.x, this.view.y);
  }

  moveTo(x, y) {
    const most = (room) => Math.max(0, this.players.length - (room - this.margin) / this.view.size);
    this.view.x = Math.min(Math.max(0, x), most(this.canvas.clientWidth));
    this.view.y = Math.min(Math.max(0, y), most(this.canvas.clientHeight));
    this.redraw();
  }

  // Zoom so that the cell under a place of the canvas stays there.
  zoom(factor, x = this.canvas.clientWidth / 2, y = this.canvas.clientHeight / 2) {
    const { view, margin } = this;
    const [column, row] = [(x - margin) / view.size + view.x, (y - margin) / view.size + view.y];
    const least = (Math.min(this.canvas.clientWidth, this.canvas.clientHeight) - LABELS) / Math.max(1, this.players.length);
    view.size = Math.min(LARGEST, Math.max(Math.min(least, LEGIBLE), view.size * factor));
    this.moveTo(column - (x - this.margin) / view.size, row - (y - this.margin) / view.size);
  }

  // --- the user ------------------------------------------------------------------------------------------------

  listen() {
    const options = { signal: this.control.signal };
    const on = (name, call, more = {}) => this.canvas.addEventListener(name, call, { ...options, ...more });
    on("wheel", (event) => this.wheel(event), { passive: false });
    on("pointerdown", (event) => this.press(event));
    on("pointermove", (event) => this.move(event));
    on("pointerup", (event) => this.release(event));
    on("pointerleave", () => this.setCursor(null));
    on("keydown", (event) => this.key(event));
  }

  wheel(event) {
    event.preventDefault();
    this.zoom(Math.exp(-event.deltaY / 300), event.offsetX, event.offsetY);
  }

  press(event) {
    this.canvas.setPointerCapture(event.pointerId);
    this.drag = { x: event.offsetX, y: event.offsetY, from: { ...this.view }, moved: false };
  }

  move(event) {
    if (!this.drag) {
      this.setCursor(this.cellAt(event.offsetX, event.offsetY));
      return;
    }
    const [dx, dy] = [event.offsetX - this.drag.x, event.offsetY - this.drag.y];
    this.drag.moved ||= Math.hypot(dx, dy) > 4;
    if (this.drag.moved) this.moveTo(this.drag.from.x - dx / this.view.size, this.drag.from.y - dy / this.view.size);
  }

  release(event) {
    const cell = this.cellAt(event.offsetX, event.offsetY);
    if (this.drag && !this.drag.moved && cell) this.choose(cell);
    this.drag = null;
  }

  key(event) {
    const step = STEPS[event.key];
    if (step) this.setCursor(this.stepped(step, event.shiftKey ? 10 : 1));
    else if (event.key === "+" || event.key === "=") this.zoom(1.3);
    else if (event.key === "-") this.zoom(1 / 1.3);
    else if (event.key === "0") this.fit();
    else if (event.key === "Enter" && this.cursor) this.choose(this.cursor);
    else return;
    event.preventDefault();
  }

  stepped([down, right], by) {
    if (!this.cursor) return [0, 0];
    const within = (place) => Math.min(this.players.length - 1, Math.max(0, place));
    return [within(this.cursor[0] + by * down), within(this.cursor[1] + by * right)];
  }

  setCursor(cell) {
    if (String(cell) === String(this.cursor)) return;
    this.cursor = cell;
    this.point(cell);
    if (cell && document.activeElement === this.canvas) this.reveal(cell);
    this.redraw();
  }

  // Move just so far that a cell is in sight.
  reveal([row, column]) {
    const { view } = this;
    const x = Math.min(column, Math.max(view.x, column + 1 - this.across));
    const y = Math.min(row, Math.max(view.y, row + 1 - this.down));
    this.moveTo(x, y);
  }
}

// A colour for each byte, as the bytes of a pixel: alpha, blue, green, red.
function colours() {
  const background = colour("nothing").match(/[0-9a-f]{2}/gi).map((part) => parseInt(part, 16));
  return Uint32Array.from({ length: 256 }, (_, value) => {
    const score = scoreColour((value % PREDICTED) / 100);
    const known = value === UNKNOWN ? background : value >= PREDICTED ? mixed(score, background) : score;
    return ((255 << 24) | (known[2] << 16) | (known[1] << 8) | known[0]) >>> 0;
  });
}

// What is only predicted is paler than what was played.
function mixed(one, other) {
  return one.map((value, i) => Math.round(0.45 * value + 0.55 * other[i]));
}

function fitted(name) {
  return name.length <= 16 ? name : `${name.slice(0, 8)}…${name.slice(-7)}`;
}
