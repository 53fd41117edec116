// Counts what holds: check(name, work) prints a line, done() the closing line and the exit code.
let passed = 0, failed = 0;

export async function check(name, work) {
  try {
    await work();
    passed++;
    console.log(`ok      ${name}`);
  } catch (e) {
    failed++;
    console.log(`FAILED  ${name}: ${String(e?.stack ?? e).split('\n').slice(0, 3).join(' | ')}`);
  }
}

export function done() {
  console.log(`${passed} passed, ${failed} failed`);
  process.exit(failed ? 1 : 0);
}
