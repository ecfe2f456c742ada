"use strict";
(() => {
  const source = document.getElementById("timeline-data");
  if (!source) return;
  const data = JSON.parse(source.textContent);
  const canvas = document.getElementById("stays");
  const overview = document.getElementById("overview");
  const reading = document.getElementById("reading");
  const go = document.querySelector('[data-do="go"]');
  const ROW = 14, GAP = 8, NAMES = 118, AXIS = 20;
  const length = data.end - data.start;
  const part = Math.max(1, Math.floor(length / data.parts));
  const whole = data.windows.length === 1 && data.windows[0][0] <= data.start && data.windows[0][1] >= data.end;
  let view = [data.start, data.end];

  // Absolute times, once.
  for (const cpu of data.cpus) {
    cpu.exact = cpu.exact.map(windows => windows.map((numbers, at) => {
      const stays = [];
      let time = data.windows[at][0];
      for (let i = 0; i < numbers.length; i += 3) {
        const from = time + numbers[i], to = from + numbers[i + 1];
        stays.push([from, to, numbers[i + 2]]);
        time = to;
      }
      return stays;
    }));
  }
  const perCpu = data.governors.length * ROW + (data.governors.length > 1 ? 5 : 0) + GAP;
  const height = data.cpus.length * perCpu + AXIS;

  const style = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const probe = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  probe.setAttribute("hidden", "");
  document.body.append(probe);
  const shades = data.shades.map(shade => {
    const rect = document.createElementNS("http://www.w3.org/2000/svg", "rect");
    rect.setAttribute("class", "state" + shade);
    probe.append(rect);
    return getComputedStyle(rect).fill;
  });

  const time = ns => {
    const size = Math.abs(ns);
    for (const [unit, scale] of [["s", 1e9], ["ms", 1e6], ["µs", 1e3]]) {
      if (size >= scale) return (ns / scale).toPrecision(5).replace(/\.?0+$/, "") + " " + unit;
    }
    return Math.round(ns) + " ns";
  };

  function prepare(element, cssHeight) {
    const scale = window.devicePixelRatio || 1;
    const width = element.clientWidth || 800;
    element.style.height = cssHeight + "px";
    element.width = Math.round(width * scale);
    element.height = Math.round(cssHeight * scale);
    const context = element.getContext("2d");
    context.setTransform(scale, 0, 0, scale, 0, 0);
    context.font = "12px system-ui, sans-serif";
    return [context, width];
  }

  // The first stay of a sorted list that ends after a time.
  function firstAfter(stays, at) {
    let low = 0, high = stays.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (stays[middle][1] <= at) low = middle + 1; else high = middle;
    }
    return low;
  }

  const holding = at => data.windows.findIndex(([from, to]) => from <= at && at < to);

  function drawRow(context, cpu, governor, y, x) {
    const [from, to] = view;
    let drawn = 0;
    const coarse = cpu.coarse[governor];
    const detail = (to - from) < length / 3 || whole && cpu.exact[governor][0].length < 3000;
    const first = Math.max(0, Math.floor((from - data.start) / part));
    const last = Math.min(data.parts - 1, Math.floor((to - data.start) / part));
    for (let number = first; number <= last; number++) {
      const state = coarse[number];
      if (state === "-" || state === undefined) continue;
      const start = data.start + number * part;
      const stop = number + 1 === data.parts ? data.end : start + part;
      if (detail && holding(start) >= 0 && holding(stop - 1) === holding(start)) continue;
      const left = x(Math.max(start, from)), right = x(Math.min(stop, to));
      context.globalAlpha = detail ? 0.35 : 1;
      context.fillStyle = shades[state] || style("--dim");
      context.fillRect(left, y, right - left + 0.5, ROW - 2);
      drawn++;
    }
    context.globalAlpha = 1;
    if (!detail) return drawn;
    data.windows.forEach((window, at) => {
      if (window[1] <= from || window[0] >= to) return;
      const stays = cpu.exact[governor][at];
      context.fillStyle = style("--back");
      const edge = [x(Math.max(window[0], from)), x(Math.min(window[1], to))];
      context.fillRect(edge[0], y, edge[1] - edge[0], ROW - 2);
      for (let i = firstAfter(stays, from); i < stays.length && stays[i][0] < to; i++) {
        const [start, stop, state] = stays[i];
        const left = Math.max(edge[0], x(start)), right = Math.min(edge[1], x(stop));
        context.fillStyle = shades[state] || style("--dim");
        context.fillRect(left, y, Math.max(0.7, right - left), ROW - 2);
        drawn++;
      }
    });
    return drawn;
  }

  function draw() {
    const [context, width] = prepare(canvas, height);
    const [from, to] = view;
    const x = at => NAMES + (at - from) / (to - from) * (width - NAMES - 8);
    context.fillStyle = style("--back");
    context.fillRect(0, 0, width, height);
    let drawn = 0, y = 4;
    for (const cpu of data.cpus) {
      data.governors.forEach((governor, number) => {
        context.fillStyle = style("--text");
        const name = (number === 0 ? "cpu " + cpu.cpu + "  " : "") + governor;
        context.textAlign = "right";
        context.fillText(name.length > 17 ? name.slice(0, 16) + "…" : name, NAMES - 8, y + ROW - 4);
        drawn += drawRow(context, cpu, number, y, x);
        y += ROW;
      });
      if (cpu.differ) {
        const first = Math.max(0, Math.floor((from - data.start) / part));
        const last = Math.min(data.parts - 1, Math.floor((to - data.start) / part));
        context.fillStyle = style("--text");
        for (let number = first; number <= last; number++) {
          const tenths = Number(cpu.differ[number] || 0);
          if (!tenths) continue;
          const start = data.start + number * part;
          context.globalAlpha = 0.15 + 0.085 * tenths;
          const left = Math.max(NAMES, x(start)), right = Math.min(width - 8, x(start + part));
          context.fillRect(left, y, Math.max(0.7, right - left), 4);
        }
        context.globalAlpha = 1;
        y += 5;
      }
      y += GAP;
    }
    context.fillStyle = style("--dim");
    context.textAlign = "center";
    for (let number = 0; number <= 4; number++) {
      const at = from + (to - from) * number / 4;
      context.textAlign = number === 0 ? "left" : number === 4 ? "right" : "center";
      context.fillText("+" + time(at - data.start), x(at), height - 5);
    }
    canvas.dataset.drawn = drawn;
    drawOverview();
  }

  function drawOverview() {
    const [context, width] = prepare(overview, 36);
    const x = at => NAMES + (at - data.start) / length * (width - NAMES - 8);
    context.fillStyle = style("--panel");
    context.fillRect(0, 0, width, 36);
    context.fillStyle = style("--text");
    context.textAlign = "right";
    context.fillText("differences", NAMES - 8, 21);
    for (let number = 0; number < data.parts; number++) {
      let tenths = 0;
      for (const cpu of data.cpus) tenths += Number(cpu.differ[number] || 0);
      if (!tenths) continue;
      const tall = 30 * tenths / (9 * data.cpus.length);
      context.fillRect(x(data.start + number * part), 33 - tall, Math.max(0.7, x(part + data.start) - NAMES), Math.max(1, tall));
    }
    if (!whole) {
      context.fillStyle = style("--focus");
      for (const [from, to] of data.windows) context.fillRect(x(from), 0, Math.max(2, x(to) - x(from)), 3);
    }
    context.strokeStyle = style("--focus");
    context.lineWidth = 2;
    context.strokeRect(x(view[0]), 2, Math.max(3, x(view[1]) - x(view[0])), 32);
  }

  function show(from, to) {
    const shortest = 1000;
    let wide = Math.min(length, Math.max(shortest, to - from));
    let start = Math.min(Math.max(data.start, from), data.end - wide);
    view = [start, start + wide];
    draw();
    reading.textContent = "shown: " + time(wide) + " from +" + time(start - data.start);
  }
  const middle = () => (view[0] + view[1]) / 2;
  const zoom = (factor, at = middle()) => show(at - (at - view[0]) * factor, at + (view[1] - at) * factor);
  const move = share => { const by = (view[1] - view[0]) * share; show(view[0] + by, view[1] + by); };
  const actions = { left: () => move(-0.4), right: () => move(0.4), in: () => zoom(0.4), out: () => zoom(2.5), all: () => show(data.start, data.end) };
  document.querySelectorAll("#timeline button").forEach(button => button.addEventListener("click", () => actions[button.dataset.do]()));
  const keys = { ArrowLeft: "left", ArrowRight: "right", "+": "in", "=": "in", "-": "out", "0": "all" };
  canvas.addEventListener("keydown", event => {
    const action = actions[keys[event.key]];
    if (!action || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    action();
  });
  const timeAt = event => {
    const box = canvas.getBoundingClientRect();
    return view[0] + (event.clientX - box.left - NAMES) / (box.width - NAMES - 8) * (view[1] - view[0]);
  };
  canvas.addEventListener("wheel", event => {
    if (!event.ctrlKey && !event.shiftKey && Math.abs(event.deltaX) < Math.abs(event.deltaY) && document.activeElement !== canvas) return;
    event.preventDefault();
    if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) move(event.deltaX / 600);
    else zoom(event.deltaY > 0 ? 1.25 : 0.8, timeAt(event));
  }, { passive: false });
  let dragged = null;
  canvas.addEventListener("pointerdown", event => { dragged = [event.clientX, view[0]]; canvas.setPointerCapture(event.pointerId); });
  canvas.addEventListener("pointerup", () => { dragged = null; });
  canvas.addEventListener("pointermove", event => {
    if (dragged) {
      const per = (view[1] - view[0]) / (canvas.clientWidth - NAMES - 8);
      const start = dragged[1] - (event.clientX - dragged[0]) * per;
      show(start, start + view[1] - view[0]);
      return;
    }
    const at = timeAt(event), y = event.clientY - canvas.getBoundingClientRect().top - 4;
    const cpu = data.cpus[Math.floor(y / perCpu)];
    const governor = Math.floor(y % perCpu / ROW);
    const window = holding(at);
    if (!cpu || !data.governors[governor] || at < view[0] || at > view[1]) return;
    let text = "cpu " + cpu.cpu + ", " + data.governors[governor] + ", +" + time(at - data.start) + ": ";
    if (window >= 0) {
      const stays = cpu.exact[governor][window];
      const stay = stays[firstAfter(stays, at)];
      text += stay && stay[0] <= at ? data.states[stay[2]] + " for " + time(stay[1] - stay[0]) : "not idle";
    } else {
      const state = cpu.coarse[governor][Math.floor((at - data.start) / part)];
      text += state === "-" ? "mostly not idle" : "mostly " + data.states[state];
    }
    reading.textContent = text;
  });
  overview.addEventListener("pointerdown", event => {
    const box = overview.getBoundingClientRect();
    const at = data.start + (event.clientX - box.left - NAMES) / (box.width - NAMES - 8) * length;
    const wide = view[1] - view[0] < length ? view[1] - view[0] : length / 20;
    show(at - wide / 2, at + wide / 2);
  });
  go.append(new Option(data.moments.length ? "a difference…" : "nothing differs"));
  data.moments.forEach(([at, cpu, what]) => go.append(new Option("cpu " + cpu + ": " + what, at)));
  go.addEventListener("change", () => {
    if (!go.value || isNaN(go.value)) return;
    const at = Number(go.value), half = Math.max(2e6, length / 50000);
    show(at - half, at + half);
  });
  window.addEventListener("resize", draw);
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  window.addEventListener("beforeprint", draw);
  draw();
})();
