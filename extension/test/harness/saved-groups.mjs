// The tab groups that Chrome has saved in a profile, which it shows in the bookmarks bar and keeps when their tabs are gone. No interface
// tells of them, so they are read from where Chrome writes them: a LevelDB store, whose log is all there is while the profile is young.
import fs from 'node:fs';
import path from 'node:path';

const BLOCK = 32 * 1024;
const HEADER = 7;
const FULL = 1;
const LAST = 4;

/** The records of groups and of their tabs, raw: a title of plain letters is in one as it is. */
export function savedGroups(profile) {
  const dir = path.join(profile, 'Default/Sync Data/LevelDB');
  const logs = fs.existsSync(dir) ? fs.readdirSync(dir).filter((f) => f.endsWith('.log')).sort() : [];
  return logs.length ? [...entries(fs.readFileSync(path.join(dir, logs.at(-1))))].filter(([key]) => key.startsWith('saved_tab_group-dt-')).map(([, value]) => value) : [];
}

/** What a log leaves: the puts without what was deleted or written over. A record that is still being written is left out. */
function entries(log) {
  const found = new Map();
  let parts = [];
  for (let at = 0; at + HEADER <= log.length;) {
    const room = BLOCK - (at % BLOCK);
    if (room < HEADER) { at += room; continue; }
    const end = at + HEADER + log.readUInt16LE(at + 4);
    const type = log[at + 6];
    if (type === 0 || end > log.length) break;
    parts.push(log.subarray(at + HEADER, end));
    at = end;
    if (type !== FULL && type !== LAST) continue;
    apply(Buffer.concat(parts), found);
    parts = [];
  }
  return found;
}

/** A batch: 8 bytes of number, 4 of count, then puts (1, key, value) and deletes (0, key), each text after its length. */
function apply(batch, found) {
  let at = 12;
  const text = () => {
    let length = 0;
    let byte;
    for (let shift = 0; ; shift += 7) {
      byte = batch[at++];
      length += (byte & 127) * 2 ** shift;
      if (byte < 128) break;
    }
    at += length;
    return batch.toString('latin1', at - length, at);
  };
  for (let left = batch.readUInt32LE(8); left > 0; left--) {
    if (batch[at++] === 1) { const key = text(); found.set(key, text()); } else found.delete(text());
  }
}
