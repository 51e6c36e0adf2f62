// Dots on a canvas: one WebGL2 POINTS buffer per chunk of pages; a 2D canvas where WebGL is missing. Knows nothing of crawls.

const VERTEX = `#version 300 es
in float place; in float seconds; in float relevance; in float flags;
uniform vec2 range; uniform bool byTime; uniform float size; uniform vec2 pad;
uniform vec3 plain; uniform vec3 good; uniform vec3 said; uniform float alpha;
out vec4 tint; out float ring;
float noise(float n) { return fract(sin(n * 12.9898) * 43758.5453) - 0.5; }
void main() {
  float along = ((byTime ? seconds : place) - range.x) / max(range.y - range.x, 1e-6);
  float y = relevance * (1.0 - 2.0 * pad.y) + pad.y + noise(place) * 0.05;
  gl_Position = vec4(along * 2.0 - 1.0, y * 2.0 - 1.0, 0.0, 1.0);
  bool isGood = mod(flags, 2.0) > 0.5; bool isSaid = mod(floor(flags / 2.0), 2.0) > 0.5;
  tint = vec4(isSaid ? said : isGood ? good : plain, isSaid ? 1.0 : alpha); ring = isSaid ? 1.0 : 0.0;
  gl_PointSize = isSaid ? size + 5.0 : size;
}`;
const FRAGMENT = `#version 300 es
precision mediump float; in vec4 tint; in float ring; out vec4 colour;
void main() {
  float far = length(gl_PointCoord - 0.5) * 2.0;
  if (far > 1.0 || (ring > 0.5 && far < 0.55)) discard;
  colour = vec4(tint.rgb * tint.a, tint.a) * smoothstep(1.0, 0.75, far);
}`;
export const PAD = 0.07;
const NAMES = ["place", "seconds", "relevance", "flags"];

export const jitter = (place) => {
  const value = Math.sin(place * 12.9898) * 43758.5453;
  return (value - Math.floor(value) - 0.5) * 0.05;
};

export function colours() {
  const style = getComputedStyle(document.documentElement);
  const of = (name) => style.getPropertyValue(name).trim();
  return { plain: of("--dot"), good: of("--green"), said: of("--amber"), line: of("--line-strong"), text: of("--muted"), mark: of("--blue"), surface: of("--surface"), sunken: of("--sunken") };
}

const channels = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16) / 255);

/** A drawer of dots on this canvas. `draw` takes chunks of {key, first, seconds, relevance, flags}. */
export function dotDrawer(canvas, { force2d = false } = {}) {
  const gl = force2d ? null : canvas.getContext("webgl2", { premultipliedAlpha: true, antialias: false, alpha: true });
  return gl ? webgl(canvas, gl) : flat(canvas);
}

function webgl(canvas, gl) {
  const program = gl.createProgram();
  for (const [kind, source] of [[gl.VERTEX_SHADER, VERTEX], [gl.FRAGMENT_SHADER, FRAGMENT]]) {
    const shader = gl.createShader(kind);
    gl.shaderSource(shader, source);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
  }
  gl.linkProgram(program);
  if (!gl.getProgramParameter(program, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(program));
  gl.useProgram(program);
  gl.enable(gl.BLEND);
  gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
  const uniform = Object.fromEntries(["range", "byTime", "size", "pad", "plain", "good", "said", "alpha"].map((name) => [name, gl.getUniformLocation(program, name)]));
  const places = Object.fromEntries(NAMES.map((name) => [name, gl.getAttribLocation(program, name)]));
  const kept = new Map();

  function loaded(chunk) {
    const before = kept.get(chunk.key);
    if (before && before.count === chunk.flags.length && before.version === chunk.version) return before;
    const vertices = gl.createVertexArray();
    gl.bindVertexArray(vertices);
    const numbers = Float32Array.from(chunk.flags, (_, at) => chunk.first + at);
    const sources = { place: [numbers, gl.FLOAT, false], seconds: [chunk.seconds, gl.FLOAT, false], relevance: [chunk.relevance, gl.UNSIGNED_SHORT, true], flags: [chunk.flags, gl.UNSIGNED_BYTE, false] };
    const buffers = NAMES.filter((name) => places[name] >= 0).map((name) => {
      const buffer = gl.createBuffer();
      const [data, kind, isShare] = sources[name];
      gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
      gl.bufferData(gl.ARRAY_BUFFER, data, gl.STATIC_DRAW);
      gl.enableVertexAttribArray(places[name]);
      gl.vertexAttribPointer(places[name], 1, kind, isShare, 0, 0);
      return buffer;
    });
    if (before) discard(before);
    const made = { vertices, buffers, count: chunk.flags.length, version: chunk.version };
    kept.set(chunk.key, made);
    return made;
  }

  function discard(chunk) {
    gl.deleteVertexArray(chunk.vertices);
    chunk.buffers.forEach((buffer) => gl.deleteBuffer(buffer));
  }

  return {
    kind: "webgl",
    draw(chunks, { from, to, byTime, size, alpha }) {
      gl.viewport(0, 0, canvas.width, canvas.height);
      gl.clearColor(0, 0, 0, 0);
      gl.clear(gl.COLOR_BUFFER_BIT);
      const tints = colours();
      gl.uniform2f(uniform.range, from, to);
      gl.uniform1i(uniform.byTime, byTime ? 1 : 0);
      gl.uniform1f(uniform.size, size);
      gl.uniform2f(uniform.pad, 0, PAD);
      gl.uniform1f(uniform.alpha, alpha);
      gl.uniform3f(uniform.plain, ...channels(tints.plain));
      gl.uniform3f(uniform.good, ...channels(tints.good));
      gl.uniform3f(uniform.said, ...channels(tints.said));
      for (const chunk of chunks) {
        const made = loaded(chunk);
        gl.bindVertexArray(made.vertices);
        gl.drawArrays(gl.POINTS, 0, made.count);
      }
      const wanted = new Set(chunks.map((chunk) => chunk.key));
      for (const [key, chunk] of kept) {
        if (!wanted.has(key)) {
          discard(chunk);
          kept.delete(key);
        }
      }
    },
  };
}

function flat(canvas) {
  const context = canvas.getContext("2d");
  return {
    kind: "2d",
    draw(chunks, { from, to, byTime, size, alpha }) {
      const tints = colours();
      context.clearRect(0, 0, canvas.width, canvas.height);
      const span = to - from || 1;
      for (const chunk of chunks) {
        for (let at = 0; at < chunk.flags.length; at += 1) {
          const number = chunk.first + at;
          const along = ((byTime ? chunk.seconds[at] : number) - from) / span;
          if (along < 0 || along > 1) continue;
          const isSaid = chunk.flags[at] & 2;
          context.globalAlpha = isSaid ? 1 : alpha;
          context.fillStyle = isSaid ? tints.said : chunk.flags[at] & 1 ? tints.good : tints.plain;
          const y = (chunk.relevance[at] / 65535) * (1 - 2 * PAD) + PAD + jitter(number);
          context.fillRect(along * canvas.width - size / 2, (1 - y) * canvas.height - size / 2, size, size);
        }
      }
      context.globalAlpha = 1;
    },
  };
}
