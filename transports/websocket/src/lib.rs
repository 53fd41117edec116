//! The WebSocket door: upgrade checks and framing.
