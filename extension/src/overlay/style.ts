// How the overlay looks. Two tones, so that it stands out from any page; `!important` within a shadow root is stronger than all that a
// page can say about the host.

export const STYLE = `
:host {
  all: initial !important; display: block !important; position: fixed !important; inset: 0 !important; width: 100% !important; height: 100% !important;
  pointer-events: none !important; z-index: 2147483647 !important; overflow: hidden !important; user-select: none !important;
  --ink: #1668dc; --halo: rgb(255 255 255 / .9); --wash: rgb(22 104 220 / .12);
}
:host([hidden]) { display: none !important; }
@media (prefers-color-scheme: dark) { :host { --ink: #6cb6ff; --halo: rgb(13 17 23 / .85); --wash: rgb(108 182 255 / .16); } }
@media print { :host { display: none !important; } }
.box {
  position: absolute; box-sizing: border-box; border: 2px solid var(--ink); border-radius: 5px; background: var(--wash);
  box-shadow: 0 0 0 2px var(--halo), 0 0 14px 1px var(--ink); animation: fade 1.4s ease-in forwards;
}
.cursor { position: absolute; left: 0; top: 0; width: 22px; height: 26px; margin: -2px 0 0 -3px; transition: translate .12s ease-out; animation: fade 1.6s ease-in forwards; }
.cursor path { fill: var(--ink); stroke: var(--halo); stroke-width: 2; stroke-linejoin: round; }
.ripple {
  position: absolute; width: 36px; height: 36px; margin: -18px 0 0 -18px; box-sizing: border-box; border: 3px solid var(--ink); border-radius: 50%;
  box-shadow: 0 0 0 1.5px var(--halo), inset 0 0 0 1.5px var(--halo); animation: ripple .7s ease-out forwards;
}
@keyframes fade { 0%, 60% { opacity: 1 } 100% { opacity: 0 } }
@keyframes ripple { from { scale: .25; opacity: 1 } to { scale: 1.15; opacity: 0 } }
@media (prefers-reduced-motion: reduce) {
  .cursor { transition: none; }
  .box, .cursor { animation: none; }
  .ripple { animation: none; opacity: .8; }
}
`;
