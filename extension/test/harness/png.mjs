// Just enough PNG to look at one pixel of a screenshot: 8 bits, RGB or RGBA, not interlaced.
import zlib from 'node:zlib';

export function pixel(png, x, y) {
  const width = png.readUInt32BE(16);
  const channels = { 2: 3, 6: 4 }[png[25]];
  const data = [];
  for (let at = 8; at < png.length;) {
    const length = png.readUInt32BE(at);
    if (png.toString('latin1', at + 4, at + 8) === 'IDAT') data.push(png.subarray(at + 8, at + 8 + length));
    at += length + 12;
  }
  const raw = zlib.inflateSync(Buffer.concat(data));
  const stride = width * channels;
  let above = Buffer.alloc(stride);
  for (let row = 0; row <= y; row++) {
    const filter = raw[row * (stride + 1)];
    const line = Buffer.from(raw.subarray(row * (stride + 1) + 1, (row + 1) * (stride + 1)));
    for (let i = 0; i < stride; i++) {
      const left = i >= channels ? line[i - channels] : 0, up = above[i], corner = i >= channels ? above[i - channels] : 0;
      if (filter === 1) line[i] += left;
      else if (filter === 2) line[i] += up;
      else if (filter === 3) line[i] += (left + up) >> 1;
      else if (filter === 4) {
        const p = left + up - corner, pa = Math.abs(p - left), pb = Math.abs(p - up), pc = Math.abs(p - corner);
        line[i] += pa <= pb && pa <= pc ? left : pb <= pc ? up : corner;
      }
    }
    above = line;
  }
  return [...above.subarray(x * channels, x * channels + 3)];
}
