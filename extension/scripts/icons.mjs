#!/usr/bin/env node
// Draws the icons (a bridge on a rounded square) into static/icons/. Run by hand after a change; the PNGs are committed.
import fs from 'node:fs';
import path from 'node:path';
import zlib from 'node:zlib';
import { fileURLToPath } from 'node:url';

const out = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..', 'static', 'icons');

/** Colour at a point of the unit square, or null where the icon is transparent. */
function colour(x, y) {
  const r = 0.22, dx = Math.max(r - x, x - (1 - r), 0), dy = Math.max(r - y, y - (1 - r), 0);
  if (Math.hypot(dx, dy) > r) return null;
  const deck = y > 0.56 && y < 0.66 && x > 0.1 && x < 0.9;
  const pier = y >= 0.28 && y < 0.8 && (Math.abs(x - 0.3) < 0.045 || Math.abs(x - 0.7) < 0.045);
  const sag = 0.3 + 0.26 * (1 - ((x - 0.5) / 0.2) ** 2);
  const side = 0.3 + 0.26 * ((x < 0.5 ? 0.3 - x : x - 0.7) / 0.2);
  const cable = Math.abs(y - (Math.abs(x - 0.5) < 0.2 ? sag : side)) < 0.035 && x > 0.1 && x < 0.9 && y < 0.6;
  return deck || pier || cable ? [255, 255, 255] : [22, 93 + 30 * (1 - y), 155 + 40 * (1 - y)];
}

function png(size) {
  const rows = [];
  for (let py = 0; py < size; py++) {
    const row = Buffer.alloc(1 + size * 4);
    for (let px = 0; px < size; px++) {
      const sum = [0, 0, 0, 0];
      for (let i = 0; i < 16; i++) {
        const c = colour((px + (i % 4) / 4 + 0.125) / size, (py + Math.floor(i / 4) / 4 + 0.125) / size);
        if (c) { c.forEach((v, k) => { sum[k] += v; }); sum[3]++; }
      }
      for (let k = 0; k < 3; k++) row[1 + px * 4 + k] = sum[3] ? Math.round(sum[k] / sum[3]) : 0;
      row[1 + px * 4 + 3] = Math.round((sum[3] / 16) * 255);
    }
    rows.push(row);
  }
  const chunk = (type, data) => {
    const body = Buffer.concat([Buffer.from(type), data]);
    const frame = Buffer.alloc(8 + body.length);
    frame.writeUInt32BE(data.length, 0);
    body.copy(frame, 4);
    frame.writeUInt32BE(crc32(body), 4 + body.length);
    return frame;
  };
  const head = Buffer.alloc(13);
  head.writeUInt32BE(size, 0);
  head.writeUInt32BE(size, 4);
  head.set([8, 6, 0, 0, 0], 8);
  return Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), chunk('IHDR', head), chunk('IDAT', zlib.deflateSync(Buffer.concat(rows), { level: 9 })), chunk('IEND', Buffer.alloc(0))]);
}

function crc32(data) {
  let crc = ~0;
  for (const byte of data) {
    crc ^= byte;
    for (let k = 0; k < 8; k++) crc = (crc >>> 1) ^ (0xedb88320 & -(crc & 1));
  }
  return ~crc >>> 0;
}

fs.mkdirSync(out, { recursive: true });
for (const size of [16, 32, 48, 128]) fs.writeFileSync(path.join(out, `icon-${size}.png`), png(size));
