// A screen of its own for tests with real windows: Xvfb on a free number, openbox as the window manager, xdotool as the person's hand.
import { execFileSync, spawn } from 'node:child_process';

const sleep = (ms) => new Promise((r) => setTimeout(r, ms));

const ended = (child) => child.exitCode !== null || child.signalCode !== null;

/** windowManager: false is for a look at the bare screen. */
export async function startDisplay({ width = 1280, height = 900, windowManager = true } = {}) {
  const children = [];
  const run = (command, args, options) => {
    const child = spawn(command, args, { detached: true, ...options });
    child.on('error', (e) => { child.failed = new Error(`${command} cannot be started (.ci/need screen installs it): ${e.message}`); });
    children.push(child);
    return child;
  };
  const stop = async () => {
    for (const child of children.reverse()) {
      if (child.pid && !ended(child)) process.kill(child.pid, 'SIGTERM');
      for (let i = 0; i < 100 && child.pid && !ended(child); i++) await sleep(20);
      if (child.pid && !ended(child)) process.kill(child.pid, 'SIGKILL');
    }
  };
  try {
    // The server chooses a free number and tells it on descriptor 3. Without -noreset it would start over, and throw out whoever is just
    // connecting, each time that nobody is left: as when the first look for the window manager comes before the window manager itself.
    const server = run('Xvfb', ['-displayfd', '3', '-noreset', '-screen', '0', `${width}x${height}x24`, '-nolisten', 'tcp'], { stdio: ['ignore', 'ignore', 'ignore', 'pipe'] });
    const number = await new Promise((resolve, reject) => {
      let text = '';
      server.stdio[3].on('data', (d) => { text += d; if (text.includes('\n')) resolve(text.trim()); });
      server.on('exit', () => reject(new Error('Xvfb ended')));
      server.on('error', () => reject(server.failed));
    });
    const env = { ...process.env, DISPLAY: `:${number}` };
    delete env.XAUTHORITY;
    delete env.WAYLAND_DISPLAY;
    const xdotool = (...args) => execFileSync('xdotool', args.map(String), { env, encoding: 'utf8', timeout: 10_000, stdio: ['ignore', 'pipe', 'pipe'] }).trim();
    if (!windowManager) return { env, xdotool, stop };
    const wm = run('openbox', ['--sm-disable'], { env, stdio: 'ignore' });
    // Openbox names the number of desktops only once the screen is its own.
    for (let i = 0; ; i++) {
      if (wm.failed || ended(wm)) throw wm.failed ?? new Error('openbox ended');
      try { xdotool('get_num_desktops'); break; } catch (e) { if (i > 200) throw e; }
      await sleep(20);
    }
    return { env, xdotool, stop };
  } catch (e) {
    await stop();
    throw e;
  }
}
